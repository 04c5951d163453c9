import EntitySchema
import GRDB
import JSONText

@testable import CacheStore

/// Reads a store's tables directly, without the code under test.
struct CacheReader {
    struct Record {
        var key: String
        var remote: JSONText?
        var local: JSONText?
        var document: JSONText?
        var isDeleted: Bool
        /// The server deleted it while a change of it was being sent.
        var isGone: Bool
    }

    struct Change {
        var id: Int64
        var entity: String
        var key: String
        var operation: Operation
        var body: JSONText
        var state: String
        var attempts: Int
        var idempotencyKey: String
        /// Why the last attempt failed; nil if none did.
        var error: String?
    }

    /// A conflict between a local edit and one upstream that was resolved.
    struct LastWrite {
        var entity: String
        var key: String
        var operation: Operation
        /// Nil for the whole record.
        var field: String?
        var local: JSONText?
        var server: JSONText?
        var serverAt: Timestamp?
        /// `local` or `server`.
        var winner: String
    }

    let store: CacheStore

    func visibleKeys(_ entity: String) throws -> [String] {
        try store.pool.read { db in
            try String.fetchAll(
                db.cachedStatement(
                    sql: "SELECT _key FROM records_\(entity) WHERE _deleted = 0 ORDER BY _key"))
        }
    }

    func records(_ entity: String) throws -> [Record] {
        try store.pool.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT _key, _remote, _local,
                          iif(_local IS NULL AND _document IS NULL, NULL, \(EntityTable.document)), _deleted, _gone
                        FROM records_\(entity) ORDER BY _key
                        """)
            ).map { row in
                Record(
                    key: row[0], remote: try json(row[1]), local: try json(row[2]), document: try json(row[3]),
                    isDeleted: row[4], isGone: row[5])
            }
        }
    }

    /// The queue, oldest first.
    func changes() throws -> [Change] {
        try store.pool.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id, entity, record_key, operation, body, state, attempt_count, idempotency_key,
                          error_class || ': ' || error_message
                        FROM sync_outbox ORDER BY id
                        """)
            ).map { row in
                Change(
                    id: row[0], entity: row[1], key: row[2], operation: Operation(rawValue: row[3]) ?? .update,
                    body: try JSONText(parsing: row[4]), state: row[5], attempts: row[6], idempotencyKey: row[7],
                    error: row[8])
            }
        }
    }

    /// Whether a later change of the same record sets this field.
    func setsLater(_ field: String, than change: Change) throws -> Bool {
        let current = try current(change.entity, change.key)
        return try changes().contains { later in
            try later.id > change.id && later.entity == change.entity && later.body[field] != nil
                && self.current(later.entity, later.key) == current
        }
    }

    /// The current key of a record that was given `key` here.
    func current(_ entity: String, _ key: String) throws -> String {
        try store.pool.read { db in try KeyAlias.current(of: key, entity, db) }
    }

    /// All logged conflicts as text, which contains both values.
    func conflicts() throws -> [String] {
        try store.pool.read { db in
            try Row.fetchAll(db.cachedStatement(sql: "SELECT * FROM sync_conflict")).map(\.description)
        }
    }

    /// Conflicts that the last write won.
    func lastWrites() throws -> [LastWrite] {
        try store.pool.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT entity, record_key, operation, field, local, server, server_at, winner FROM sync_conflict
                        WHERE rule = 'last_write_wins' AND winner IS NOT NULL
                        """)
            ).map { row in
                LastWrite(
                    entity: row[0], key: row[1], operation: Operation(rawValue: row[2]) ?? .update, field: row[3],
                    local: try json(row[4]), server: try json(row[5]),
                    serverAt: (row[6] as Int64?).map { Timestamp(milliseconds: $0) }, winner: row[7])
            }
        }
    }

    /// A conflict, whether or not it was decided; times are milliseconds.
    struct Decision {
        var entity: String
        var key: String
        var operation: Operation
        /// Nil for the whole record.
        var field: String?
        /// What both sides started from, and each side's value.
        var sides: [String?]
        var localAt: Int64?
        var serverAt: Int64?
        var rule: String
        /// `local` or `server`; nil until someone chooses.
        var winner: String?
    }

    /// All conflicts that were ever found.
    func decisions() throws -> [Decision] {
        try store.pool.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT entity, record_key, operation, field, base, local, server, local_at, server_at, rule, winner
                        FROM sync_conflict ORDER BY id
                        """)
            ).map { row in
                Decision(
                    entity: row[0], key: row[1], operation: Operation(rawValue: row[2]) ?? .update, field: row[3],
                    sides: [row[4], row[5], row[6]], localAt: row[7], serverAt: row[8], rule: row[9], winner: row[10])
            }
        }
    }

    /// Records, as `entity/key`, with a conflict that a user must resolve before they follow the server.
    func undecidedRecords() throws -> Set<String> {
        try store.pool.read { db in
            try String.fetchSet(
                db.cachedStatement(
                    sql: """
                        SELECT entity || '/' || record_key FROM sync_conflict WHERE winner IS NULL AND field IS NULL
                        """))
        }
    }

    /// Records whose acknowledged changes may not be shown everywhere yet.
    func settling(_ entity: String) throws -> Set<String> {
        try store.pool.read { db in
            try String.fetchSet(
                db.cachedStatement(sql: "SELECT record_key FROM sync_settling WHERE entity = ?"), arguments: [entity])
        }
    }

    /// Records, as `entity/key`, that are read once their changes have settled.
    func unconfirmedRecords() throws -> Set<String> {
        try store.pool.read { db in
            try String.fetchSet(
                db.cachedStatement(
                    sql: "SELECT entity || '/' || record_key FROM sync_settling WHERE confirmed = 0"))
        }
    }

    /// Records, as `entity/key`, that were deleted here so recently that a server which has them may just be behind.
    func ownDeletions() throws -> Set<String> {
        try store.pool.read { db in
            try String.fetchSet(
                db.cachedStatement(
                    sql: "SELECT entity || '/' || record_key FROM sync_settling WHERE kind = 'deleted'"))
        }
    }

    /// Entities whose last list was not believed.
    func heldEntities() throws -> Set<String> {
        try store.pool.read { db in
            try String.fetchSet(db.cachedStatement(sql: "SELECT entity FROM sync_cursor WHERE held IS NOT NULL"))
        }
    }

    /// Records, as `entity/key`, that a list lacked once, so that another reading decides about them.
    func missingRecords() throws -> Set<String> {
        try store.pool.read { db in
            try String.fetchSet(db.cachedStatement(sql: "SELECT entity || '/' || record_key FROM sync_missing"))
        }
    }

    /// The customers whose visits the next pull reads again.
    func customersToFetch() throws -> Set<String> {
        Set(try store.parents(of: "customers", after: 0, all: false, limit: 1000).map(\.key))
    }

    /// Changes that wait for a user, and those that wait for these.
    /// `orLookedUp`: also lost creations that wait until the upstream shows everything it has, and what waits for them.
    func stuckChanges(orLookedUp: Bool = false) throws -> Set<Int64> {
        try store.pool.read { db in
            try Int64.fetchSet(
                db.cachedStatement(
                    sql: """
                        WITH RECURSIVE stuck (id) AS (
                          SELECT id FROM sync_outbox WHERE state = 'failed'
                            OR ? AND state = 'waiting' AND (error_class IN ('accepted', 'unseen')
                              OR operation = 'create' AND error_class = 'conflict')
                          UNION SELECT change_id FROM sync_conflict WHERE winner IS NULL
                          UNION SELECT change_id FROM sync_dependency JOIN stuck ON needs_id = stuck.id)
                        SELECT id FROM stuck
                        """),
                arguments: [orLookedUp])
        }
    }

    private func json(_ text: String?) throws -> JSONText? { try text.map { try JSONText(parsing: $0) } }
}
