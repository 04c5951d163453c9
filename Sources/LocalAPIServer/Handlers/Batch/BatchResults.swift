internal import CacheStore
internal import EntitySchema
internal import JSONText

/// What became of each operation of a batch, in their order.
struct BatchResults: Sendable {
    var all: [BatchResult]
    var isRepeated = false

    /// Call this before the caller waits, which may take a minute: the records of writes that are queued are read again
    /// afterwards.
    mutating func dropRecords() {
        for index in all.indices {
            guard case .written(var write) = all[index], write.queued != nil else { continue }
            write.record = nil
            all[index] = .written(write)
        }
    }

    var failed: Int { all.count { $0.isRefused } }

    /// The body of the answer.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(all.reduce(50) { $0 + $1.size })
        bytes += Array("{\"failed\":\(failed),\"results\":[".utf8)
        for (index, result) in all.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            result.append(to: &bytes)
        }
        bytes += "]}".utf8
        return bytes
    }
}

enum BatchResult: Sendable {
    case written(BatchWrite)
    /// With the status and the text of the problem document.
    case refused(Int, [UInt8])

    var isRefused: Bool {
        if case .refused = self { true } else { false }
    }

    var status: Int {
        switch self {
        case .written(let write): write.status
        case .refused(let status, _): status
        }
    }

    /// About how many bytes it takes in the answer.
    fileprivate var size: Int {
        switch self {
        case .written(let write): 150 + (write.record?.count ?? 0)
        case .refused(_, let problem): 50 + problem.count
        }
    }

    fileprivate func append(to bytes: inout [UInt8]) {
        bytes += "{\"status\":\(status)".utf8
        switch self {
        case .written(let write):
            bytes += ",\"id\":".utf8
            JSONText.append(write.key, to: &bytes)
            if let tag = write.tag {
                bytes += ",\"etag\":".utf8
                JSONText.append(tag, to: &bytes)
            }
            if let record = write.record {
                bytes += ",\"record\":".utf8
                bytes += record
            }
        case .refused(_, let problem):
            bytes += ",\"problem\":".utf8
            bytes += problem
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

/// An operation that was done.
struct BatchWrite: Sendable {
    var status: Int
    var entity: String
    var key: String
    /// As `ETag` has it; nil if no record is left or shown.
    var tag: String?
    /// The record as readers see it; nil if none is left, or the answer has no room for it.
    var record: [UInt8]?
    /// The changes that carry it, if the caller waits for them.
    var queued: QueuedWrite?

    init(_ done: RecordWrite.Done, of entity: String) {
        status = done.status
        self.entity = entity
        key = done.key
        queued = done.queued
    }

    mutating func show(_ shown: ShownRecord) {
        tag = EntityTag.text(of: shown.version)
        record = shown.bytes
    }

    /// Leaves the record out where those before it have filled the answer; `shown`: how many bytes they have.
    mutating func fit(after shown: inout Int) {
        shown += record?.count ?? 0
        if shown > BatchRun.mostShown { record = nil }
    }
}

// MARK: Stored for repeats

extension BatchResults: RepeatableResult {
    var stored: JSONText { .object(["results": .array(all.map(\.stored))]) }

    init(stored: JSONText) throws(Problem) {
        let results = stored["results"]?.elements.map(BatchResult.init(stored:)) ?? [nil]
        all = results.compactMap(\.self)
        guard all.count == results.count else { throw .unreadableFirstAnswer }
    }
}

extension BatchResult {
    /// Texts are stored as they are, so that no depth of nesting stops a repeat.
    fileprivate var stored: JSONText {
        switch self {
        case .written(let write):
            .object([
                "status": .integer(write.status), "entity": .string(write.entity), "key": .string(write.key),
                "tag": .string(write.tag), "record": .string(write.record.map { String(decoding: $0, as: UTF8.self) }),
                "queued": write.queued?.document ?? .null,
            ])
        case .refused(let status, let problem):
            .object(["status": .integer(status), "problem": .string(String(decoding: problem, as: UTF8.self))])
        }
    }

    /// Nil for any other document.
    fileprivate init?(stored: JSONText) {
        guard let status = stored["status"]?.integer else { return nil }
        if let problem = stored["problem"]?.string {
            self = .refused(status, Array(problem.utf8))
        } else if let write = BatchWrite(stored: stored, status) {
            self = .written(write)
        } else {
            return nil
        }
    }
}

extension BatchWrite {
    fileprivate init?(stored: JSONText, _ status: Int) {
        guard let entity = stored["entity"]?.string, let key = stored["key"]?.string else { return nil }
        self.status = status
        self.entity = entity
        self.key = key
        tag = stored["tag"]?.string
        record = stored["record"]?.string.map { Array($0.utf8) }
        queued = stored["queued"].flatMap(QueuedWrite.init)
    }
}
