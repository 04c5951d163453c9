internal import EntitySchema
internal import JSONText
internal import SQLiteStore

extension OutboxTable {
    struct NewChange {
        var table: EntityTable
        var key: String
        var operation: Operation
        var body: JSONText
        /// What the server had in these fields when they were edited, and the whole record of a deletion; the defaults
        /// of a creation, which readers see until the server says otherwise.
        var base: JSONText
        /// Field → when it was edited, in milliseconds of the server's clock.
        var edited: JSONText
        var group: String?
        var idempotencyKey: String
        /// For a change of the record's content, and for a creation that carries it: its SHA-256, or an empty text for
        /// its deletion.
        var content: String?
        /// Of a corrected change: what its attempts before may have set on the server, field → [values].
        var sent: JSONText?

        var entity: Entity { table.entity }
    }

    struct Entry {
        var id: Int64
        var entity: String
        var key: String
        var operation: Operation
        var body: JSONText
        var base: JSONText
        var edited: JSONText
        var createdAt: Timestamp
        /// An attempt may have reached the upstream.
        var tried: Bool
        var state: OutboxState
        /// As `NewChange.content`.
        var content: String?
        /// Of the last failure.
        var errorClass: ErrorClass?
        /// As `NewChange.sent`.
        var sent: JSONText?
        /// Nil before the first one, and after a correction.
        var firstAttemptAt: Timestamp?

        /// It changes the record's content and none of its fields; a creation may carry content besides them.
        var isContentOnly: Bool { content != nil && operation == .update }

        /// It failed for good, and the server has nothing of it.
        var isRefused: Bool { state == .failed && [.refused, .conflict, .sealed, .unsendable].contains(errorClass) }

        /// The server has nothing of it: it was never sent, or refused.
        var isUnknownThere: Bool { !tried || isRefused }

        /// What attempts before a correction may have set a field to, oldest first.
        func sent(_ field: String) -> [JSONText] { sent?[field]?.elements ?? [] }

        /// Throws `.busy` while the change is being sent.
        func requireIdle() throws {
            guard state == .uploading else { return }
            throw CacheError.busy("change \(id) is being sent right now; wait for its outcome")
        }

        /// By the server's clock.
        func editedAt(_ field: String) -> Timestamp {
            edited[field]?.integer.map { Timestamp(milliseconds: Int64($0)) } ?? createdAt
        }

        var lastEdit: Timestamp {
            edited.members.compactMap(\.value.integer).max().map { Timestamp(milliseconds: Int64($0)) } ?? createdAt
        }
    }
}

extension OutboxTable.Entry {
    /// A change that has just been queued.
    init(_ change: OutboxTable.NewChange, id: Int64, at now: Timestamp) {
        self.init(
            id: id, entity: change.entity.name, key: change.key, operation: change.operation, body: change.body,
            base: change.base, edited: change.edited, createdAt: now, tried: false, state: .queued,
            content: change.content)
    }

    /// A row of `QueueStatements.changes`.
    init(reading row: BoundStatement) throws {
        func text(_ column: Int32) -> String { row.text(column) ?? "" }
        self.init(
            id: row.integer(0) ?? 0, entity: text(1), key: text(2), operation: Operation(rawValue: text(3)) ?? .update,
            body: try JSONText(parsing: text(4)), base: try JSONText(parsing: text(5)),
            edited: try JSONText(parsing: text(6)), createdAt: Timestamp(milliseconds: row.integer(7) ?? 0),
            tried: row.integer(8) ?? 0 > 0, state: OutboxState(rawValue: text(9)) ?? .queued, content: row.text(10),
            errorClass: row.text(11).map(ErrorClass.init), sent: try row.text(12).map { try JSONText(parsing: $0) },
            firstAttemptAt: row.integer(13).map(Timestamp.init(milliseconds:)))
    }

    /// What readers see of it.
    var shown: RecordOverlay.Change {
        RecordOverlay.Change(
            operation: operation, body: body, base: operation == .create ? base : .object([:]), edited: edited,
            state: state, content: content)
    }
}
