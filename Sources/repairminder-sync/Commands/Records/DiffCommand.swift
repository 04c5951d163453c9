import ArgumentParser
import JSONText
import LocalAPI

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show how records with unsent changes differ from the upstream.",
        discussion: "The upstream's values are those that it last sent; the upstream is not asked.")

    @Argument(help: "Only records of this entity.", completion: .custom(RecordCompletion.entities))
    var entity: String?

    @Argument(help: RecordWriting.idHelp, completion: .custom(RecordCompletion.ids))
    var id: String?

    @OptionGroup var table: SortedTableOptions
    @OptionGroup var options: ClientOptions

    /// A record with unsent changes.
    private struct Pending: Hashable {
        var entity: String
        var id: String
    }

    func run() async throws {
        let client = try options.client()
        var query: LocalAPIClient.Query = []
        var key: String?
        if let entity {
            _ = try await EntityShape(of: entity, client)
            query.append(("entity", entity))
            if let id {
                let found = try await RecordID.key(of: id, in: entity, client)
                query.append(("record", found))
                key = found
            }
        }
        let changes = try await ListPages.all(of: LocalAPIPaths.pending, query: query, client)["data"]?.elements ?? []
        if let entity, let key, changes.isEmpty {
            // Fails if there is no such record: that is not the same as one without differences.
            _ = try await client.get(LocalAPIPaths.record(of: entity, id: key), query: [("refresh", "false")])
        }
        var differences: [JSONText] = []
        var seen: Set<Pending> = []
        for change in changes {
            let pending = Pending(entity: change.shown("entity"), id: change.shown("record_id"))
            if seen.insert(pending).inserted { differences += try await self.differences(of: pending, change, client) }
        }
        try options.show(.object(["data": .array(differences)])) { _ in
            try table.rendered(differences, Self.table, none: "no differences\n")
        }
    }

    private func differences(
        of pending: Pending, _ change: JSONText, _ client: LocalAPIClient
    ) async throws -> [JSONText] {
        let record: JSONText
        do throws(LocalAPIError) {
            let path = LocalAPIPaths.record(of: pending.entity, id: pending.id)
            record = try await client.get(path, query: [("server", "true"), ("refresh", "false")]).body ?? .null
        } catch {
            guard CommandStatus(error) == .notFound else { throw error }
            return [Self.difference(pending.entity, pending.id, "", .string("exists"), .string("deleted"))]
        }
        guard let server = record["_server"], server.kind == .object else {
            let fields = change["fields"]?.elements.map(\.plain) ?? []
            return fields.map { Self.difference(pending.entity, pending.id, $0, .null, record[$0] ?? .null) }
        }
        return server.members.compactMap { name, value in
            let local = record[name] ?? .null
            return local.isEquivalent(to: value)
                ? nil : Self.difference(pending.entity, pending.id, name, value, local)
        }
    }

    private static func difference(
        _ entity: String, _ id: String, _ field: String, _ server: JSONText, _ local: JSONText
    ) -> JSONText {
        .object([
            "entity": .string(entity), "id": .string(id), "field": .string(field), "server": server, "local": local,
        ])
    }

    static func table(_ differences: [JSONText]) -> Table {
        let columns = ["entity", "id", "field", "server", "local"]
        return Table(columns, of: differences, kept: Set(columns), wrapped: ["server", "local"])
    }
}
