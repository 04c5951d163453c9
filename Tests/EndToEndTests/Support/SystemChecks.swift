import Foundation
import JSONText
import Testing
import Upstream

/// Checks that every schema must pass, run with the built commands.
struct SystemChecks {
    let shop: Shop
    let outline: SystemOutline
    /// `entity.field` that only the upstream sets.
    var served: Set<String> = []
    /// Entities that are only local.
    var locals: Set<String> = []
    /// Entity → its key field, if not `id`.
    var keys: [String: String] = [:]

    var synced: [String] { outline.entities.map(\.name).filter { !locals.contains($0) } }

    func key(of entity: String) -> String { keys[entity] ?? "id" }

    // MARK: Pull

    /// Every record equals the upstream's except for secret fields; returns the names of these by entity.
    @discardableResult
    func pulls() async throws -> [String: Set<String>] {
        #expect(try await shop.command("sync", "--wait").status == 0)
        var secrets: [String: Set<String>] = [:]
        for entity in synced {
            let there = try await shop.admin("records/\(entity)")
            #expect(!there.isEmpty, "\(entity)")
            #expect(
                try await shop.call("GET", "/v1/\(entity)?limit=1&count=true").body["total"]?.integer == there.count)
            for record in there.prefix(20) {
                let id = record[key(of: entity)]?.plain ?? ""
                let here = try await shop.call("GET", "/v1/\(entity)/\(id)").body
                let shown = Set(here.members.map(\.key))
                let hidden = Set(record.members.map(\.key)).subtracting(shown)
                secrets[entity, default: []].formUnion(hidden)
                #expect(without(["_sync"], here) == without(hidden, record), "\(entity) \(id)")
            }
        }
        return secrets
    }

    /// No file of the daemon contains these fields' values in plain text, and callers see each.
    func seals(_ sealed: [String: Set<String>]) async throws {
        let files = try shop.stateFiles()
        for (entity, fields) in sealed {
            for field in fields {
                let there = try await shop.admin("records/\(entity)")
                for record in there.prefix(20) {
                    guard let text = record[field]?.text, text.count > 5 else { continue }
                    #expect(files.allSatisfy { $0.range(of: Data("\"\(field)\":\(text)".utf8)) == nil })
                }
                let record = try #require(there.first { $0[field] != .null })
                let id = record[key(of: entity)]?.plain ?? ""
                let shown = try await shop.call("GET", "/v1/\(entity)/\(id)").body
                #expect(shown[field] == record[field], "\(entity).\(field)")
            }
        }
    }

    // MARK: Offline work

    /// A copy of one of the upstream's records without its key.
    func draft(of entity: String, like index: Int = 0) async throws -> JSONText {
        let there = try await shop.admin("records/\(entity)")
        let record = there[min(index, there.count - 1)]
        let fields = outline.entities.first { $0.name == entity }?.fields.map(\.name) ?? []
        return .object(
            members: record.members.filter { name, _ in
                fields.contains(name) && name != key(of: entity) && !served.contains("\(entity).\(name)")
                    && name != "updated_at"
            })
    }

    /// Creates a record of each of `entities` offline and changes all of its fields. After a kill, and back online, all of
    /// them are upstream as written. Then deletes them in the same way.
    func roundTrips(_ entities: [String], drafts: [String: JSONText] = [:]) async throws {
        await shop.gateway.close()
        var made: [(entity: String, id: String, body: JSONText)] = []
        for entity in entities {
            var first = try await draft(of: entity)
            if let given = drafts[entity] { first = given }
            let answer = try await shop.call("POST", "/v1/\(entity)", first)
            #expect(answer.status == 201, "\(entity) \(answer.body.text)")
            let id = try #require(answer.body[key(of: entity)]?.plain)
            let change = without(references(first), try await draft(of: entity, like: 1))
            let changed = try await shop.call("PATCH", "/v1/\(entity)/\(id)", change)
            // Some entities cannot be changed.
            let isChanged = changed.status == 200
            #expect(isChanged || changed.status == 405, "\(entity) \(changed.body.text)")
            made.append((entity, id, isChanged ? first.setting(change) : first))
        }
        try await killAndSync()
        for (entity, id, body) in made {
            let here = try await shop.call("GET", "/v1/\(entity)/\(id)").body
            let now = here[key(of: entity)]?.plain
            let there = try await shop.admin("records/\(entity)").first { $0[key(of: entity)]?.plain == now }
            for (field, value) in body.members { #expect(there?[field] == value, "\(entity).\(field)") }
        }
        await shop.gateway.close()
        for (entity, id, _) in made.reversed() {
            #expect(try await shop.call("DELETE", "/v1/\(entity)/\(id)").status == 204, "\(entity)")
        }
        try await killAndSync()
        for (entity, id, _) in made { #expect(try await shop.call("GET", "/v1/\(entity)/\(id)").status == 404) }
        for entity in entities { try await agrees(on: entity) }
    }

    /// Kills and restarts the daemon, reconnects it to the upstream, and syncs.
    func killAndSync() async throws {
        await shop.killDaemon()
        try await shop.startDaemon()
        try await shop.gateway.open()
        let sync = try await shop.command("sync", "--wait")
        #expect(sync.status == 0, "\(sync.output)")
        let waiting = try await shop.call("GET", "/v1/pending").body
        #expect(try await shop.command("pending", "--count").output == "0", "\(waiting.text)")
    }

    /// Both sides have the same keys.
    func agrees(on entity: String) async throws {
        let here = try await shop.call("GET", "/v1/\(entity)?limit=1000").body["data"]?.elements ?? []
        let there = try await shop.admin("records/\(entity)")
        func ids(_ records: [JSONText]) -> Set<String> { Set(records.compactMap { $0[key(of: entity)]?.plain }) }
        #expect(ids(here) == ids(there), "\(entity)")
    }

    // MARK: Commands

    /// Runs `list`, `get`, `create`, `set`, `search` and `status` on an entity with a text field.
    func commands(_ entity: String, text field: String, creating arguments: [String]) async throws {
        await shop.gateway.close()
        let made = try await shop.run(["create", entity] + arguments)
        #expect(made.status == 0, "\(made.output)")
        let id = made.output
        #expect(!id.isEmpty)
        #expect(try await shop.command("set", entity, id, "\(field)=quokka enclosure").status == 0)
        let one = try await shop.command("get", entity, id)
        #expect(one.status == 0 && one.output.contains("quokka enclosure"))
        let list = try await shop.command("list", entity, "sync=pending")
        #expect(list.status == 0 && list.output.contains(id))
        let found = try await shop.command("search", "quokka")
        #expect(found.status == 0 && found.output.contains(id), "\(found.output)")
        try await shop.gateway.open()
        #expect(try await shop.command("sync", "--wait").status == 0)
        let status = try await shop.command("status")
        #expect(status.status == 0)
        for entity in outline.entities { #expect(status.output.contains(entity.name)) }
        #expect(try await shop.command("drift").output.contains("no drift"))
    }

    // MARK: Parts

    private func without(_ names: Set<String>, _ record: JSONText) -> JSONText {
        .object(members: record.members.filter { !names.contains($0.key) })
    }

    /// References, which are not changed.
    private func references(_ record: JSONText) -> Set<String> {
        Set(record.members.map(\.key).filter { $0.hasSuffix("_id") })
    }
}

extension Shop {
    /// Runs `body` with a shop of this schema.
    static func with(
        _ schema: String, rows: Int = 60, serverIds: Bool = true, _ arguments: [String] = [],
        settings: String = "", _ body: (Shop) async throws -> Void
    ) async throws {
        let shop = try await Shop(schema: schema, rows: rows, serverIds: serverIds, arguments, settings: settings)
        let result: Result<Void, any Error>
        do { result = .success(try await body(shop)) } catch { result = .failure(error) }
        await shop.end()
        try result.get()
    }

    /// Waits until a record's content is uploaded.
    func uploaded(_ entity: String, _ id: String) async throws {
        var seen = 0
        while true {
            let page = try await call("GET", "/v1/changes?since=\(seen)&entity=\(entity)&wait=60").body
            seen = try #require(page["next"]?.integer)
            let record = try await call("GET", "/v1/\(entity)/\(id)").body
            if record["upload_status"] == "uploaded" { return }
            let failures = try await call("GET", "/v1/pending?state=failed").body
            try #require(record["upload_status"] != "failed", "\(failures.text)")
        }
    }

    func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await Program.run("repairminder-sync", arguments + ["--config", "\(folder.path)/config.yaml"])
    }

    /// The bytes of every file in the state directory.
    nonisolated func stateFiles() throws -> [Data] {
        let state = folder.appending(path: "state")
        return try FileManager.default.contentsOfDirectory(atPath: state.path).compactMap { name in
            let path = state.appending(path: name)
            return (try? path.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true
                ? nil : try Data(contentsOf: path)
        }
    }
}
