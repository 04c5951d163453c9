internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// What a write left, as its transaction saw it. The answer is rendered from this alone, after the commit.
enum WriteResult: Sendable {
    /// There is nothing to show.
    case done
    /// The record as readers see it after the write.
    case record(ShownRecord)
    /// The same for a new record; `key` is the one it got.
    case created(ShownRecord, entity: String, key: String)
    /// The text of a change, a conflict or a reminder. It is stored as it is, so that no depth of nesting stops a
    /// repeat.
    case json([UInt8])
    /// The number of changes that are tried again.
    case retried(Int)
    /// An answer that a version before this one stored whole.
    case rendered(Response)

    /// Reads the record as the write has left it.
    init(_ done: RecordWrite.Done, of entity: Entity, _ transaction: LocalTransaction) throws {
        switch done.status {
        case 204: self = .done
        case 201:
            let shown = try Handlers.shown(entity.name, done.key, transaction)
            self = .created(shown, entity: entity.name, key: done.key)
        default: self = .record(try Handlers.shown(entity.name, done.key, transaction))
        }
    }

    static func document(_ document: JSONText) -> WriteResult { .json(Array(document.bytes)) }

    var status: Int {
        switch self {
        case .done: 204
        case .record, .json, .retried: 200
        case .created: 201
        case .rendered(let response): response.status
        }
    }

    /// The answer.
    var response: Response {
        switch self {
        case .done: return Response(status: status)
        case .record(let shown): return .record(status, shown)
        case .created(let shown, let entity, let key):
            var response = Response.record(status, shown)
            response.headers.append(("Location", "/v1/\(entity)/\(Entity.percentEncoded(key))"))
            return response
        case .json(let text): return .json(status, text)
        case .retried(let count): return .document(.object(["retried": .integer(count)]), status)
        case .rendered(let response): return response
        }
    }
}

/// A write's result, and the changes that carry it if its caller waits for them.
struct Written: Sendable {
    var result: WriteResult
    var queued: QueuedWrite?
    var isRepeated = false

    var response: Response { noting(result.response) }

    /// Call this before the caller waits, which may take a minute: the record is read again afterwards.
    mutating func dropRecord() { result = .done }
}

// MARK: Stored for repeats

extension Written: RepeatableResult {
    var stored: JSONText { .object(members: result.members + [("queued", queued?.document ?? .null)]) }

    init(stored: JSONText) throws(Problem) {
        guard let result = WriteResult(stored) else {
            throw .unreadableFirstAnswer
        }
        self.init(result: result, queued: stored["queued"].flatMap(QueuedWrite.init))
    }
}

extension WriteResult {
    fileprivate var members: [(key: String, value: JSONText)] {
        switch self {
        case .done: [("result", "done")]
        case .record(let shown): [("result", "record"), ("record", shown.stored)]
        case .created(let shown, let entity, let key):
            [
                ("result", "created"), ("record", shown.stored), ("entity", .string(entity)), ("key", .string(key)),
            ]
        case .json(let text): [("result", "json"), ("text", .string(String(decoding: text, as: UTF8.self)))]
        case .retried(let count): [("result", "retried"), ("count", .integer(count))]
        case .rendered(let response): response.stored
        }
    }

    /// Nil for text that no version has stored.
    fileprivate init?(_ stored: JSONText) {
        let shown = stored["record"].flatMap(ShownRecord.init)
        switch stored["result"]?.string {
        case "done": self = .done
        case "record":
            guard let shown else { return nil }
            self = .record(shown)
        case "created":
            guard let shown, let entity = stored["entity"]?.string, let key = stored["key"]?.string else { return nil }
            self = .created(shown, entity: entity, key: key)
        case "json":
            guard let text = stored["text"]?.string else { return nil }
            self = .json(Array(text.utf8))
        case "retried":
            guard let count = stored["count"]?.integer else { return nil }
            self = .retried(count)
        default:
            guard let response = Response(stored: stored) else { return nil }
            self = .rendered(response)
        }
    }
}

extension Response {
    /// The format of earlier versions, which stored the rendered answer.
    fileprivate var stored: [(key: String, value: JSONText)] {
        var text = ""
        if case .bytes(let bytes) = body { text = String(decoding: bytes, as: UTF8.self) }
        return [
            ("status", .integer(status)),
            ("headers", .array(headers.map { .array([.string($0.name), .string($0.value)]) })), ("body", .string(text)),
        ]
    }

    fileprivate init?(stored: JSONText) {
        guard let status = stored["status"]?.integer, let body = stored["body"]?.string else { return nil }
        let headers = (stored["headers"]?.elements ?? []).compactMap { field in
            let parts = field.elements.compactMap(\.string)
            return parts.count == 2 ? (name: parts[0], value: parts[1]) : nil
        }
        self.init(status: status, headers: headers, body: Array(body.utf8))
    }
}
