internal import EntitySchema
internal import GRDB
internal import JSONText

/// One queued change on its way from one database to another, with all that makes it whole there.
///
/// As JSON it is a line of what `queue export` writes; secrets stay sealed in it.
package struct ExportedChange: Codable, FetchableRecord, Sendable, Equatable {
    package var id: Int64
    package var entity: String
    package var recordKey: String
    package var operation: String
    /// JSON texts, as the queue has them.
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
    /// Of a change of the record's content: its SHA-256, or nothing where it is deleted. The bytes come along with the
    /// files beside the database, not with the change.
    package var content: String?
    /// In bytes.
    package var contentSize: Int?
    /// Its media type.
    package var contentType: String?
    /// What the server last said of the record; nil where it knows none.
    package var record: String?
    /// What waits for a person's choice about it.
    package var conflicts: [ExportedConflict]?

    enum CodingKeys: String, CodingKey {
        case id, entity, operation, body, base, edited, state, tried, content, record, conflicts
        case recordKey = "record_key"
        case idempotencyKey = "idempotency_key"
        case orderGroup = "order_group"
        case attemptCount = "attempt_count"
        case createdAt = "created_at"
        case lastAttemptAt = "last_attempt_at"
        case nextAttemptAt = "next_attempt_at"
        case errorClass = "error_class"
        case errorStatus = "error_status"
        case errorMessage = "error_message"
        case knownPk = "known_pk"
        case contentSize = "content_size"
        case contentType = "content_type"
    }

    /// Whether it can be a change at all: bytes that were flipped make no JSON.
    var isSound: Bool {
        let texts = [body, base, edited ?? "{}"]
        return Operation(rawValue: operation) != nil && !recordKey.isEmpty && !idempotencyKey.isEmpty
            && OutboxState(rawValue: state) != nil
            && texts.allSatisfy { (try? JSONText(parsing: $0))?.kind == .object }
    }

    /// Where only a page of the queue could be read, what its bytes are is left to whoever gets them.
    var carriedContent: Content? {
        guard let content, content != ContentTable.nothing else { return nil }
        return Content(sha256: content, size: contentSize ?? 0, type: contentType ?? Content.unknownType)
    }

    /// Whether the two are one change, perhaps at different times.
    func isSame(as other: ExportedChange) -> Bool {
        idempotencyKey == other.idempotencyKey
            || id == other.id && createdAt == other.createdAt && entity == other.entity
    }

    /// The same, when nobody can tell any more whether it has reached the upstream.
    var uncertain: ExportedChange {
        var change = self
        change.tried = max(tried, 1)
        return change
    }
}

/// An undecided conflict of a carried change.
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
}
