package import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Records outside of a window that kept records refer to: which are missing, and which the upstream does not have.
extension CacheStore {
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
                    db.cachedStatement(sql: Self.missingSQL(reference, in: link.table, to: target)),
                    arguments: [entity.name, (now - Self.absence).milliseconds, limit, now.milliseconds])
            }
        }
        return keys.exactSet.sorted().prefix(limit).map(\.text)
    }

    /// The first ?3 missing keys of ?1, without those that were noted as absent after ?2, that have queued changes, or that
    /// were deleted here. A note from after ?4 was made while the clock was ahead, and does not count.
    private static func missingSQL(_ reference: String, in table: EntityTable, to target: EntityTable) -> String {
        """
        SELECT DISTINCT \(reference) FROM \(table.name) AS record
        WHERE record._deleted = 0 AND \(reference) > ''
          AND NOT EXISTS (SELECT 1 FROM \(target.name) AS target WHERE target._key = \(reference))
          AND \(reference) NOT IN (SELECT record_key FROM sync_absent WHERE entity = ?1 AND at > ?2 AND at <= ?4)
          AND \(reference) NOT IN (SELECT record_key FROM sync_outbox WHERE entity = ?1)
          AND \(reference) NOT IN (SELECT record_key FROM sync_settling WHERE entity = ?1 AND kind = 'deleted')
        LIMIT ?3
        """
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

    /// Why records that others refer to could not be read; nil if all could, or once `noteReferences` says to ask again, or if
    /// the clock was ahead when it said so.
    package func referenceProblem(of entity: String, at now: Timestamp) throws -> String? {
        guard let note = try setting("references-problem:\(entity)"), let start = note.firstIndex(of: " "),
            let end = Int64(note[..<start]).map(Timestamp.init(milliseconds:)), now < end, end <= now + Self.absence
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
