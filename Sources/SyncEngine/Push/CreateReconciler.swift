internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Finds out whether a creation was applied when its answer was lost and no idempotency key allows a blind repeat.
struct CreateReconciler {
    enum Finding {
        /// The upstream has it, as this record.
        case applied(RemoteRecord)
        /// The upstream does not have it: send it again.
        case absent
        /// The schema names no way to find out.
        case unknowable
    }

    let reader: RecordReader

    private var store: CacheStore { reader.store }
    private var upstream: any Upstream { reader.upstream }

    func finding(for change: OutboxChange, _ entity: Entity) async throws -> Finding {
        switch entity.route(for: .create, record: change.record)?.lookUp {
        case nil: return .unknowable
        case .key:
            let found = try await reader.record(of: entity, known: change.record)
            return found.map { .applied($0) } ?? .absent
        case .match(let fields, let path, let query, let list):
            guard let path = entity.path(path, of: change.record) else { return .unknowable }
            return try await match(
                PageRequest(entity: entity.name, path: path, query: query, list: list), fields, change, entity)
        }
    }

    /// Searches a list for a record that has the same values and was not known before.
    ///
    /// In a list of several pages the record may slide past them while they are read. It counts as absent when the next
    /// reading shows the same list again. Throws `.unclear` when the list keeps changing.
    private func match(
        _ request: PageRequest, _ fields: [String], _ change: OutboxChange, _ entity: Entity
    ) async throws -> Finding {
        var before: UInt64?
        for _ in 1...Self.mostReadings {
            let reading = try await read(request, fields, change, entity)
            if let found = reading.found { return .applied(found) }
            if reading.pages == 1 || reading.digest == before { return .absent }
            before = reading.digest
        }
        throw UpstreamError.unclear(
            status: nil, "\(request.path) changed while a lost creation was looked up; the lookup is repeated later")
    }

    private static let mostReadings = 4

    private struct Reading {
        var found: RemoteRecord?
        var pages = 0
        var digest: UInt64 = 0
    }

    /// Reads the list once, or until the record is found.
    private func read(
        _ request: PageRequest, _ fields: [String], _ change: OutboxChange, _ entity: Entity
    ) async throws -> Reading {
        var request = request
        var trail = PageTrail()
        var reading = Reading()
        repeat {
            let page = try await upstream.page(request)
            try trail.add(page, of: request.path, askedAt: request.position)
            for record in page.records.elements where change.isSaid(by: record, of: entity, fields) {
                guard let key = record[entity.key]?.plain, !key.isEmpty else { continue }
                // If the record already has its final key, the change itself made that key known.
                if try key == change.key || !store.wasKnown(key, before: change) {
                    reading.found = RemoteRecord(record)
                    return reading
                }
            }
            reading.pages += 1
            reading.digest = trail.digest
            request.position = page.next
        } while request.position != nil
        return reading
    }
}

extension OutboxChange {
    /// Whether a record has the change's values in these fields.
    func isSaid(by record: JSONText, of entity: Entity, _ fields: [String]) -> Bool {
        fields.allSatisfy { (entity.value(of: $0, in: record) ?? .null).isEquivalent(to: body[$0] ?? .null) }
    }
}
