internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SchemaDrift

/// Counts disagreements between one entity's records and the schema, inside the caller's transaction.
///
/// Drift never rejects a record: it is stored as it came, and counted.
struct DriftTable {
    let table: EntityTable
    let db: Database
    let now: Timestamp

    private static let mostFields = 200
    private static let mostValues = 50

    private var entity: Entity { table.entity }

    /// `written` has the keys of the page's records that were new or changed, in the page's order.
    func count(_ page: JSONText, written: [String]) throws {
        guard !written.isEmpty else { return }
        var tally = DriftTally(DriftRules(entity))
        tally.count(page, written: written)
        try save(tally)
    }

    /// Counts the record that acknowledged a change, unless it is what the server said last; does nothing for nil.
    /// `sealed` is the same record as stored.
    func count(_ record: JSONText?, sealed: JSONText?, key: String, view: RecordView) throws {
        guard let record, try RecordRow(table: table, db: db).load(key)?.remote != sealed else { return }
        var tally = DriftTally(DriftRules(entity))
        tally.count(record.text, key: record[entity.key]?.plain ?? key, isWhole: view != .answer)
        try save(tally)
    }

    /// Counts a change that the upstream accepted and did not keep.
    func countIgnored(_ field: String, key: String) throws { try add(Self.ignored(field), count: 1, example: key) }

    /// Counts a deletion that the upstream accepted, and after which it still shows the record.
    func countIgnoredDeletion(of key: String) throws {
        let found = "a record that was deleted"
        try add(DriftTally.Disagreement(field: entity.key, kind: .ignored, found: found), count: 1, example: key)
    }

    /// Counts a changed record that came without most of the values that it had. So much is seldom cleared at once.
    func countLacking(_ record: JSONText, _ before: JSONText, key: String) throws {
        let had = entity.fields.filter { !$0.isWriteOnly && $0.name != entity.key }.map(\.name).filter {
            hasValue($0, before)
        }
        let lacking = had.filter { entity.value(of: $0, in: record) == nil }
        guard lacking.count > 1, lacking.count * 2 >= had.count else { return }
        for field in lacking {
            try add(
                DriftTally.Disagreement(field: field, kind: .missing, found: Self.lacking), count: 1, example: key)
        }
    }

    private func hasValue(_ field: String, _ record: JSONText) -> Bool {
        entity.value(of: field, in: record).map { $0.kind != .null } ?? false
    }

    static let lacking = "absent from what changed; if that has the changed members alone, set since.partial"

    private static func ignored(_ field: String) -> DriftTally.Disagreement {
        DriftTally.Disagreement(field: field, kind: .ignored, found: "the value from before the change")
    }

    // MARK: Another schema

    /// Counts the cached records again if the schema's rules have changed since they were counted; runs when the cache
    /// is opened.
    static func adapt(_ schema: EntitySchema, _ sealers: RecordSealers, _ db: Database) throws {
        let counted = try String.fetchAll(db, sql: "SELECT DISTINCT entity FROM sync_field")
        for entity in counted where schema[entity] == nil {
            try forget(entity, db)
            try db.execute(sql: "DELETE FROM sync_drift WHERE entity = ?", arguments: [entity])
        }
        for entity in schema.entities where !entity.isLocal {
            let rules = DriftRules(entity)
            guard try SettingTable(db: db)[rulesSetting(entity.name)] != rules.fingerprint else { continue }
            let table = EntityTable(entity: entity)
            let latest = try Int64.fetchOne(db, sql: "SELECT max(_synced_at) FROM \(table.name)")
            try DriftTable(table: table, db: db, now: Timestamp(milliseconds: latest ?? 0)).countAgain(
                rules, sealers[entity.name])
        }
    }

    private func countAgain(_ rules: DriftRules, _ sealer: RecordSealer) throws {
        try Self.forget(entity.name, db)
        var tally = DriftTally(rules)
        let records = try Row.fetchCursor(
            db, sql: "SELECT _key, _remote FROM \(table.name) WHERE _remote IS NOT NULL ORDER BY _pk")
        while let record = try records.next() {
            let text: String = record[1]
            // Only the clear value has the type.
            tally.count(
                sealer.places.isEmpty ? text : try sealer.open(JSONText(parsing: text)).record.text, key: record[0])
        }
        try save(tally)
        try SettingTable(db: db).set(Self.rulesSetting(entity.name), to: rules.fingerprint)
    }

    /// Forgets what the records show. That changes are ignored shows only when they are made.
    private static func forget(_ entity: String, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM sync_drift WHERE entity = ? AND kind <> 'ignored'", arguments: [entity])
        try db.execute(sql: "DELETE FROM sync_field WHERE entity = ?", arguments: [entity])
        try SettingTable(db: db).remove(rulesSetting(entity))
    }

    private static func rulesSetting(_ entity: String) -> String { "drift:\(entity)" }

    // MARK: Writing

    private func save(_ tally: DriftTally) throws {
        guard tally.records > 0 else { return }
        try saveNeverSeen(tally)
        guard !tally.entries.isEmpty else { return }
        var room = try Room(entity: entity.name, db: db)
        for entry in tally.entries {
            try add(room.place(entry.disagreement), count: entry.count, example: entry.example)
        }
    }

    private func add(_ drift: DriftTally.Disagreement, count: Int, example: String) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_drift (entity, field, kind, found, count, example, first_seen, last_seen)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
                ON CONFLICT DO UPDATE SET count = count + excluded.count, example = excluded.example,
                  last_seen = excluded.last_seen
                """
        ).execute(arguments: [
            entity.name, drift.field, drift.kind.rawValue, drift.found, count, example, now.milliseconds,
        ])
    }

    /// A field that only some records lack is no drift. One that no record has had so far is drift, until a record has
    /// it, unless the upstream never shows it.
    private func saveNeverSeen(_ tally: DriftTally) throws {
        let known = Set(
            try String.fetchAll(
                db.cachedStatement(sql: "SELECT field FROM sync_field WHERE entity = ?"), arguments: [entity.name]))
        guard known.count < entity.fields.count - entity.derivedFields.count else { return }
        for (index, field) in entity.fields.enumerated()
        where !known.contains(field.name) && !field.isDerivedHere && !field.isWriteOnly {
            let absent = DriftTally.Disagreement(field: field.name, kind: .missing, found: DriftWalk.Found.nothing.word)
            if tally.present[index] {
                try db.execute(sql: "INSERT INTO sync_field VALUES (?, ?)", arguments: [entity.name, field.name])
                guard !isRequired(field) else { continue }
                try db.execute(
                    sql: "DELETE FROM sync_drift WHERE (entity, field, kind, found) = (?, ?, ?, ?)",
                    arguments: [entity.name, field.name, absent.kind.rawValue, absent.found])
            } else if !isRequired(field) {
                try add(absent, count: tally.records, example: tally.lastKey)
            }
        }
    }

    /// Required fields are counted record by record.
    private func isRequired(_ field: Field) -> Bool { field.required || field.name == entity.key }

    /// Limits the number of rows, whatever the upstream sends.
    private struct Room {
        private var known: Set<DriftTally.Disagreement> = []
        private var unknownFields: Set<String> = []
        private var values: [String: Int] = [:]

        init(entity: String, db: Database) throws {
            let rows = try Row.fetchCursor(
                db.cachedStatement(sql: "SELECT field, kind, found FROM sync_drift WHERE entity = ?"),
                arguments: [entity])
            while let row = try rows.next() {
                guard let kind = DriftKind(rawValue: row[1]) else { continue }
                note(DriftTally.Disagreement(field: row[0], kind: kind, found: row[2]))
            }
        }

        private mutating func note(_ drift: DriftTally.Disagreement) {
            guard known.insert(drift).inserted else { return }
            if drift.kind == .unknown { unknownFields.insert(drift.field) }
            if drift.kind == .value { values[drift.field, default: 0] += 1 }
        }

        /// The entry that a disagreement counts for: its own while there is room.
        mutating func place(_ drift: DriftTally.Disagreement) -> DriftTally.Disagreement {
            var place = drift
            if !known.contains(drift) {
                if drift.kind == .unknown, !unknownFields.contains(drift.field), unknownFields.count >= mostFields {
                    place.field = Drift.others
                }
                if drift.kind == .value, values[drift.field, default: 0] >= mostValues { place.found = Drift.others }
            }
            note(place)
            return place
        }
    }
}
