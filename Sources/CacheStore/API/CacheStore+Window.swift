package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Keeps the cache to what the schema's windows include (`pull.where`).
extension CacheStore {
    /// How many candidates a transaction looks at, and how many rows it removes: callers' writes go in between.
    private static let batch = 200

    /// The window of an entity at the upstream's time; nil without one, and while it needs an account that is not known.
    package func window(of entity: Entity, at serverNow: Timestamp) throws -> RecordTest? {
        guard let window = entity.pull?.window else { return nil }
        return window.test(at: serverNow, account: window.usesAccount ? try account() : nil)
    }

    /// Text that differs when another window applies to the entity; nil without one.
    package func windowDefinition(of entity: Entity) throws -> String? {
        guard let window = entity.pull?.window else { return nil }
        let account = window.usesAccount ? try account() : nil
        let returns = try windowTime(of: entity.name)?.returns ?? 0
        return WindowDefinition(of: window, account: account, returns: returns).text
    }

    /// Whether the entity's list must show something, going by what is cached.
    package func expectsList(of entity: Entity, at serverNow: Timestamp) throws -> Bool {
        guard let test = try window(of: entity, at: serverNow) else {
            return try rowCount(of: entity.name) > 0
        }
        return try read { db in
            // Its text holds times, so it is not worth a place among the prepared ones.
            try Bool.fetchOne(db, sql: try statement(entity, test).inside) ?? false
        }
    }

    /// The fields that the entity's window tests and that no record of its whole list had: nothing leaves for them.
    package func untested(of entity: String) throws -> [String] {
        try setting("untested:\(entity)")?.split(separator: ",").map(String.init) ?? []
    }

    /// Writes nothing when it is known.
    package func setUntested(_ fields: [String], of entity: String) async throws {
        guard try untested(of: entity) != fields else { return }
        try await setSetting("untested:\(entity)", to: fields.joined(separator: ","))
    }

    /// Removes every record that is outside of its entity's window and that nothing holds. Returns how many left, by
    /// entity.
    ///
    /// The candidates are found on a reader. What they refer to may leave once they have left, so this goes on until
    /// nothing leaves.
    ///
    /// `unpulled`: entities of which nothing leaves, because no pull has brought all of their window yet. Otherwise the
    /// window of the last pull, set again, would count as complete.
    package func leaveWindows(
        at now: Timestamp, serverNow: Timestamp, unpulled: Set<String> = []
    ) async throws -> [String: Int] {
        var left: [String: Int] = [:]
        let entities = try schema.entities.filter {
            try $0.pull?.window != nil && !unpulled.contains($0.name) && untested(of: $0.name).isEmpty
        }
        var goesOn = !entities.isEmpty
        while goesOn {
            goesOn = false
            for entity in entities.reversed() {
                guard let test = try window(of: entity, at: serverNow) else { continue }
                let count = try await leave(try statement(entity, test), at: now, serverNow)
                left[entity.name, default: 0] += count
                goesOn = goesOn || count > 0
            }
        }
        return left.filter { $0.value > 0 }
    }

    private func leave(_ statement: WindowStatement, at now: Timestamp, _ serverNow: Timestamp) async throws -> Int {
        let settledBefore = now - schema.upstream.settle
        var candidates = try snapshot { db in
            try Int64.fetchAll(db, sql: statement.leaving(), arguments: [settledBefore.milliseconds])
        }[...]
        var left = 0
        while !candidates.isEmpty, !Task.isCancelled {
            let pks = Array(candidates.prefix(Self.batch))
            try await noteWindowTime(serverNow, of: statement.table.entity)
            let step = try await change(at: now) { context in
                try WindowExit(statement: statement, context: context, settledBefore: settledBefore)
                    .leave(pks, most: Self.batch)
            }
            left += step.left
            candidates = candidates.dropFirst(step.looked)
        }
        return left
    }

    private func statement(_ entity: Entity, _ test: RecordTest) throws -> WindowStatement {
        WindowStatement(
            table: try table(entity.name), ties: WindowTies(of: entity, in: schema), test: test, schema: schema)
    }

    // MARK: What kept records refer to

    /// How long the upstream is not asked again for a record that it did not have.
    private static let absence = Duration.seconds(86_400)

    /// Up to `limit` keys that cached records refer to and the cache does not have, for an entity that keeps such records.
    package func missingReferences(to entity: Entity, limit: Int, at now: Timestamp) throws -> [String] {
        guard entity.pull?.window?.keepsReferenced == true else { return [] }
        let target = try table(entity.name)
        var keys: [String] = []
        for link in WindowTies(of: entity, in: schema).references where keys.count < limit {
            let reference = link.table.sql(for: link.field, of: "record.")
            keys += try read { db in
                try String.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT DISTINCT \(reference) FROM \(link.table.name) AS record
                            WHERE record._deleted = 0 AND \(reference) > ''
                              AND NOT EXISTS (
                                SELECT 1 FROM \(target.name) AS target WHERE target._key = \(reference))
                              AND \(reference) NOT IN (SELECT record_key FROM sync_absent WHERE entity = ?1 AND at > ?2)
                              AND \(reference) NOT IN (SELECT record_key FROM sync_outbox WHERE entity = ?1)
                              AND \(reference) NOT IN (
                                SELECT record_key FROM sync_settling WHERE entity = ?1 AND kind = 'deleted')
                            LIMIT ?3
                            """),
                    arguments: [entity.name, (now - Self.absence).milliseconds, limit])
            }
        }
        return Array(Set(keys).sorted().prefix(limit))
    }

    /// Remembers that the upstream does not have these records, or does not serve them: for a day, or for `wait`.
    package func noteAbsent(
        _ keys: [String], of entity: String, at now: Timestamp, for wait: Duration? = nil
    ) async throws {
        guard !keys.isEmpty else { return }
        let old = (now - Self.absence).milliseconds
        // Entries are a day old when they no longer count.
        let time = wait.map { now + $0 - Self.absence } ?? now
        try await writer.write { db in
            try db.cachedStatement(sql: "DELETE FROM sync_absent WHERE at <= ?").execute(arguments: [old])
            for key in keys {
                try db.cachedStatement(sql: "INSERT OR REPLACE INTO sync_absent VALUES (?, ?, ?)")
                    .execute(arguments: [entity, key, time.milliseconds])
            }
        }
    }

    /// Makes `missingReferences` name records again that were noted as absent.
    package func forgetAbsent(of entity: String) async throws {
        try await writer.write { db in
            try db.cachedStatement(sql: "DELETE FROM sync_absent WHERE entity = ?").execute(arguments: [entity])
        }
        guard try setting("references:\(entity)") != nil else { return }
        try await setSetting("references:\(entity)", to: "")
    }

    /// Whether cached records may refer to records that the cache lacks: true until `noteReferencesComplete`, and again
    /// after any write, when other references keep records, and after a day.
    ///
    /// It holds over a crash: a write moves the position of the change log in its own transaction.
    package func mayMissReferences(to entity: Entity, at now: Timestamp) throws -> Bool {
        let current = try position()
        guard let note = try setting("references:\(entity.name)"), let start = note.firstIndex(of: " "),
            let noted = Int64(note[..<start]), note[start...] == referenceState(of: entity, at: current)
        else { return true }
        return !(Duration.zero..<Self.absence).contains(now.since(Timestamp(milliseconds: noted)))
    }

    /// Remembers that nothing was missing when the change log was at `position`.
    package func noteReferencesComplete(of entity: Entity, at position: Int64, _ now: Timestamp) async throws {
        let state = referenceState(of: entity, at: position)
        try await setSetting("references:\(entity.name)", to: "\(now.milliseconds)\(state)")
    }

    /// Differs after a write, and under another schema whose references keep other records.
    private func referenceState(of entity: Entity, at position: Int64) -> String {
        let links = WindowTies(of: entity, in: schema).references.map { "\($0.table.entity.name).\($0.field)" }
        return " \(position) \(links.joined(separator: " "))"
    }

    /// Why records that others refer to could not be read; nil if all could, or once `noteReferences` says to ask again.
    package func referenceProblem(of entity: String, at now: Timestamp) throws -> String? {
        guard let note = try setting("references-problem:\(entity)"), let start = note.firstIndex(of: " "),
            let end = Int64(note[..<start]), now.milliseconds < end
        else { return nil }
        return String(note[note.index(after: start)...])
    }

    /// Keeps `problem` until a time; nil removes it.
    package func noteReferences(
        _ problem: String?, of entity: String, until end: Timestamp
    ) async throws {
        let name = "references-problem:\(entity)"
        let stored = try setting(name) ?? ""
        guard problem != nil || !stored.isEmpty else { return }
        try await setSetting(name, to: problem.map { "\(end.milliseconds) \($0)" } ?? "")
    }
}
