internal import EntitySchema
internal import GRDB
internal import JSONText

/// One queued change with everything needed to move it to another database.
///
/// As JSON it is a line of the output of `queue export`; its secrets stay sealed.
package struct ExportedChange: Codable, FetchableRecord, Sendable, Equatable {
    package var id: Int64
    package var entity: String
    package var recordKey: String
    package var operation: String
    /// JSON texts as in the queue.
    package var body: String
    package var base: String
    package var edited: String?
    package var idempotencyKey: String
    package var orderGroup: String?
    package var state: String
    package var attemptCount: Int
    package var tried: Int
    package var createdAt: Int64
    package var lastAttemptAt: Int64?
    package var nextAttemptAt: Int64?
    package var errorClass: String?
    package var errorStatus: Int?
    package var errorMessage: String?
    package var knownPk: Int64?
    /// For a change of the record's content: its SHA-256, or empty if it is deleted. The bytes travel with the files
    /// beside the database, not with the change.
    package var content: String?
    /// In bytes.
    package var contentSize: Int?
    /// The media type of the content.
    package var contentType: String?
    /// What the server last said of the record; nil if the server has none.
    package var record: String?
    /// For a standby, whose version of the record may be older: what the server last said of the fields of `base`, where that
    /// differs from it, and when it changed the record. Nil where the change would be too long for etcd with it.
    package var latest: String?
    /// The change's undecided conflicts.
    package var conflicts: [ExportedConflict]?
    /// This and the next two: as the queue keeps them.
    package var trace: String?
    package var sent: String?
    package var firstAttemptAt: Int64?

    enum CodingKeys: String, CodingKey {
        case id, entity, operation, body, base, edited, state, tried, content, record, latest, conflicts, trace, sent
        case recordKey = "record_key"
        case idempotencyKey = "idempotency_key"
        case orderGroup = "order_group"
        case attemptCount = "attempt_count"
        case createdAt = "created_at"
        case lastAttemptAt = "last_attempt_at"
        case firstAttemptAt = "first_attempt_at"
        case nextAttemptAt = "next_attempt_at"
        case errorClass = "error_class"
        case errorStatus = "error_status"
        case errorMessage = "error_message"
        case knownPk = "known_pk"
        case contentSize = "content_size"
        case contentType = "content_type"
    }

    /// Nil if a damaged file has another word there.
    var kind: Operation? { Operation(rawValue: operation) }

    /// Whether this can be a change at all: flipped bytes are not valid JSON.
    var isSound: Bool {
        let texts = [body, base, edited ?? "{}"]
        return kind != nil && !recordKey.isEmpty && !idempotencyKey.isEmpty
            && OutboxState(rawValue: state) != nil
            && texts.allSatisfy { (try? JSONText(parsing: $0))?.kind == .object }
    }

    /// The content of the change. If only a page of the queue could be read, its size and type are left for the
    /// receiver to find out.
    var carriedContent: Content? {
        guard let content, content != ContentTable.nothing else { return nil }
        return Content(sha256: content, size: contentSize ?? 0, type: contentType ?? Content.unknownType)
    }

    /// The same change, if it is unknown whether it reached the upstream.
    var uncertain: ExportedChange {
        var change = self
        change.tried = max(tried, 1)
        return change
    }
}

/// An undecided conflict of an exported change.
package struct ExportedConflict: Codable, FetchableRecord, Sendable, Equatable {
    var at: Int64
    var changeId: Int64
    var field: String?
    var base: String?
    var local: String?
    var server: String?
    var localAt: Int64?
    var serverAt: Int64?
    var rule: String

    enum CodingKeys: String, CodingKey {
        case at, field, base, local, server, rule
        case changeId = "change_id"
        case localAt = "local_at"
        case serverAt = "server_at"
    }

    /// The name of a value that is not JSON; nil if all are.
    var wrongValue: String? {
        [("base", base), ("local", local), ("server", server)].first { _, text in
            text.map { !ExportedChange.isJSON($0) } ?? false
        }?.0
    }
}
