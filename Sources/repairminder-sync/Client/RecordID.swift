import JSONText
import LocalAPI

/// The record that an id on the command line means.
enum RecordID {
    /// The record's key: an id of a cached record comes first, then the value of a natural key, such as `1486` or `#1486` for
    /// an order's number. Any other text is returned as it is.
    static func key(
        of id: String, in entity: String, _ client: LocalAPIClient
    ) async throws(LocalAPIError) -> String {
        if try await cached(id, in: entity, client) != nil { return id }
        let shape = try await EntityShape(of: entity, client)
        let values = id.hasPrefix("#") ? [id, String(id.dropFirst())] : [id]
        for name in shape.naturalKeys.flatMap({ field in values.map { "\(field):\($0)" } }) {
            if let key = try await cached(name, in: entity, client)?[shape.key]?.plain { return key }
        }
        return id
    }

    /// The same for a write, which needs the record in the cache: the daemon asks the upstream for one that is missing.
    static func keyToWrite(
        _ id: String, in entity: String, _ client: LocalAPIClient
    ) async throws(CommandFailure) -> String {
        do throws(LocalAPIError) {
            let key = try await Self.key(of: id, in: entity, client)
            _ = try await client.get(LocalAPIPaths.record(of: entity, id: key))
            return key
        } catch {
            throw CommandFailure(reading: error)
        }
    }

    /// Nil if the cache has no such record; the upstream is not asked. Throws for a natural key that several records have.
    static func cached(
        _ id: String, in entity: String, _ client: LocalAPIClient
    ) async throws(LocalAPIError) -> JSONText? {
        do throws(LocalAPIError) {
            return try await client.get(LocalAPIPaths.record(of: entity, id: id), query: [("refresh", "false")]).body
        } catch {
            guard CommandStatus(error) == .notFound, case .problem(let problem) = error,
                problem.code != "unknown_entity"
            else { throw error }
            return nil
        }
    }
}
