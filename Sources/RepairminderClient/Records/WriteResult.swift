import Foundation

/// What came of a write. It is on disk; whether the upstream has it depends on whether you waited.
public struct WriteResult: Sendable, Hashable {
    /// The record as it is now, with its new tag; nil after a deletion.
    public let record: Record?
    /// 201 for a new record, 200, 204; 202 if the upstream did not have the write in time.
    public let status: Int
    /// The id of a new record; the upstream may give it another one later, and both work from then on.
    public let id: String?
    /// Whether this is the answer to an earlier request with the same idempotency key.
    public let isReplayed: Bool

    /// Why the upstream does not have the write, though the call waited; nil if it has it, or the call did not wait.
    public var push: PushState? { record?.sync?.push }

    init(_ answer: Caller.Answer) {
        status = answer.status
        let tag = answer.header("ETag")
        record = answer.body.object.map { Record(json: $0, tag: tag) }
        id = answer.header("Location").flatMap { $0.split(separator: "/").last }.flatMap(\.removingPercentEncoding)
        isReplayed = answer.header("Idempotent-Replayed") == "true"
    }
}

/// Why a write that waited for the upstream is not there yet.
public struct PushState: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Wraps the object.
    public init(json: JSONObject) { self.json = json }

    /// `pending`, `failed`, `blocked`, `conflict` or `discarded`.
    public var state: String { json["state"]?.string ?? "" }

    /// The ids of the changes in the queue that carry the write.
    public var changes: [Int] { (json["changes"]?.array ?? []).compactMap(\.int) }

    /// The place in the queue, counted from its head; nil unless the state is `pending`.
    public var position: Int? { json["position"]?.int }
}

/// How a write is done. `WriteOptions()` writes at once and does not wait.
public struct WriteOptions: Sendable, Hashable {
    /// Waits so long for the upstream to have the write, 1 to 60 s; nil does not wait.
    public var wait: Duration?
    /// Only if the record still has this tag; else the problem is `.versionMismatch`.
    public var ifMatch: String?
    /// Only if the record does not have this tag; `*` is any, so a `replace` only creates.
    public var ifNoneMatch: String?
    /// The name of the write; nil makes a new one.
    public var key: IdempotencyKey?
    /// Whether the members of an object are merged into those of the field (RFC 7396), in place of the whole field.
    public var mergesObjects: Bool

    /// Options.
    public init(
        wait: Duration? = nil, ifMatch: String? = nil, ifNoneMatch: String? = nil, key: IdempotencyKey? = nil,
        mergesObjects: Bool = false
    ) {
        self.wait = wait
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.key = key
        self.mergesObjects = mergesObjects
    }

    /// Adds the options to a call.
    func apply(to call: inout Call) {
        if let wait {
            call.headers.append(HeaderField("Prefer", "wait=\(max(1, wait.components.seconds))"))
            call.wait = wait
        }
        if let ifMatch { call.headers.append(HeaderField("If-Match", ifMatch)) }
        if let ifNoneMatch { call.headers.append(HeaderField("If-None-Match", ifNoneMatch)) }
        if mergesObjects { call.headers.append(HeaderField("Content-Type", "application/merge-patch+json")) }
    }
}
