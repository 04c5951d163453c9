/// Strict HTTP/1.1 request parser (RFC 9112): bytes in, requests out, independent of how the bytes are split.
///
/// Do not use a parser again after it has thrown: the bytes after a malformed request cannot be interpreted.
package struct RequestParser {
    /// A request, complete except for a streamed body, and whether another request may follow.
    package struct Message: Equatable {
        package var method: String
        package var path: String
        package var query: String?
        package var headers: Headers
        package var body: [UInt8]
        package var keepsAlive: Bool
        /// The caller speaks HTTP/1.0: it cannot read chunked coding, and its connection closes after the answer.
        package var isOld = false
        /// The body follows through `piece`.
        var isStreamed = false
    }

    /// The result of reading a streamed body.
    package enum Piece: Equatable {
        case bytes([UInt8])
        /// More bytes are needed.
        case more
        case end
    }

    /// How much of the next request has arrived, which decides how long to wait for more.
    package enum Stage { case idle, head, body }

    private enum Phase {
        case requestLine, fields
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd, trailers
    }

    private let limits: ServerLimits
    private var phase = Phase.requestLine
    /// Nil before the request line. It is not part of the phase, so that each field is added to it without copying the others.
    private var head: RequestHead?
    private var buffer: InputBuffer
    private var lineBytes = 0
    private var fieldCount = 0
    private var extensionBytes = 0
    private var skippedEmptyLine = false
    private var continueIsDue = false
    private var body: [UInt8] = []
    /// The size of the body so far, including bytes already returned.
    private var bodyBytes = 0
    private var bodyLimit: Int
    private var isStreamed = false
    private let streams: StreamRule
    private let bodies: BodyRule
    /// Whether the request that is arriving has the method HEAD, so that no answer to it has a body (RFC 9110, 9.3.2).
    package private(set) var isHead = false

    package init(
        limits: ServerLimits, streams: @escaping StreamRule = { _, _ in nil }, bodies: @escaping BodyRule = { _ in nil }
    ) {
        self.limits = limits
        self.streams = streams
        self.bodies = bodies
        bodyLimit = limits.bodyBytes
        buffer = InputBuffer(usualCapacity: limits.readAheadBytes)
    }

    package var stage: Stage {
        switch phase {
        case .requestLine: buffer.isEmpty ? .idle : .head
        case .fields: .head
        default: .body
        }
    }

    /// The head of the request whose body is arriving; nil when the body streams, or is complete.
    var pendingHead: Message? {
        guard stage == .body, !isStreamed, let head else { return nil }
        return Message(
            method: head.method, path: head.path, query: head.query, headers: head.headers, body: [], keepsAlive: false)
    }

    /// Whether cookies take up most of a head that is too large. A browser sends the cookies that any port of the host set.
    var isFullOfCookies: Bool {
        guard case .fields = phase, fieldCount <= limits.headerCount, let head else { return false }
        let line = buffer.partOfLine
        let isCookie = line.prefix(7).map(Grammar.lowercase).elementsEqual("cookie:".utf8)
        let size = head.headers[all: "Cookie"].reduce(isCookie ? line.count : 0) { $0 + $1.utf8.count }
        return size > limits.headBytes / 2
    }

    /// The bytes that it keeps of a body that has not been returned yet.
    package var heldBytes: Int { stage == .body ? body.count + buffer.heldBytes : 0 }

    /// Whether a streamed body has not been read to its end.
    var isWithinBody: Bool { isStreamed }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer.append(bytes) }

    /// Frees all that has arrived and was not returned. Do not use a parser again after that, either.
    package mutating func discard() {
        body = []
        buffer = InputBuffer(usualCapacity: limits.readAheadBytes)
    }

    /// The next request, or nil when more bytes are needed. Read a streamed body to its end with `piece` before the
    /// next call.
    package mutating func next() throws(Refusal) -> Message? {
        while true {
            switch phase {
            case .requestLine:
                guard try takeRequestLine() else { return nil }
            case .fields:
                guard try takeFields() else { return nil }
                if isStreamed { return message }
            case .body, .chunkSize, .chunk, .chunkEnd, .trailers:
                guard try takeBody() else { return nil }
                defer { finish() }
                return message
            }
        }
    }

    /// The next bytes of a streamed body.
    package mutating func piece() throws(Refusal) -> Piece {
        guard isStreamed else { return .end }
        let isWhole = try takeBody()
        let bytes = body
        body = []
        if isWhole { finish() }
        return bytes.isEmpty ? (isWhole ? .end : .more) : .bytes(bytes)
    }

    /// Parses the available part of the body; returns whether the body is complete.
    private mutating func takeBody() throws(Refusal) -> Bool {
        while true {
            switch phase {
            case .requestLine, .fields: return false
            case .body(let remaining):
                let left = takeData(remaining)
                phase = .body(remaining: left)
                return left == 0
            case .chunkSize, .chunk, .chunkEnd:
                guard try takeChunkPart() else { return false }
            case .trailers:
                guard let line = try nextLine(limit: limits.headBytes - lineBytes, over: .headTooLarge) else {
                    return false
                }
                if line.isEmpty { return true }
                try countField()
                _ = try RequestHead.field(line)
            }
        }
    }

    /// Whether the caller is waiting for `100 Continue` before sending the body; true once per request (RFC 9110,
    /// 10.1.1).
    package mutating func takeContinue() -> Bool {
        defer { continueIsDue = false }
        return continueIsDue && body.isEmpty && buffer.isEmpty
    }

    private mutating func takeRequestLine() throws(Refusal) -> Bool {
        let limit = min(limits.requestLineBytes, limits.headBytes)
        guard let line = try nextLine(limit: limit, over: .targetTooLong) else { return false }
        if line.isEmpty, !skippedEmptyLine {  // one empty line is tolerated (RFC 9112, 2.2)
            skippedEmptyLine = true
            return true
        }
        isHead = line.starts(with: "HEAD ".utf8)
        head = try RequestHead(line: line)
        phase = .fields
        return true
    }

    /// False when more bytes are needed.
    private mutating func takeFields() throws(Refusal) -> Bool {
        while let line = try nextLine(limit: limits.headBytes - lineBytes, over: .headTooLarge) {
            if line.isEmpty {
                try finishHead()
                return true
            }
            try countField()
            try head?.append(line: line)
        }
        return false
    }

    private mutating func finishHead() throws(Refusal) {
        // Its fields one by one, because to unwrap the head copies all of it.
        guard let method = head?.method, let path = head?.path else { return }
        let streamLimit = streams(method, path)
        isStreamed = streamLimit != nil
        bodyLimit = streamLimit ?? min(limits.bodyBytes, bodies(path) ?? .max)
        try head?.finish(bodyLimit: bodyLimit)
        continueIsDue = head?.awaitsContinue ?? false
        lineBytes = 0
        fieldCount = 0
        switch head?.framing ?? .length(0) {
        case .length(let length): phase = .body(remaining: length)
        case .chunked: phase = .chunkSize
        }
    }

    private mutating func takeChunkPart() throws(Refusal) -> Bool {
        switch phase {
        case .chunkSize:
            guard
                let line = try nextLine(
                    limit: 16 + limits.chunkExtensionBytes, over: .tooLarge("A chunk extension is too long."))
            else { return false }
            let size = try chunkSize(line)
            lineBytes = 0
            phase = size == 0 ? .trailers : .chunk(remaining: size)
        case .chunk(let remaining):
            let left = takeData(remaining)
            phase = left == 0 ? .chunkEnd : .chunk(remaining: left)
            return left == 0
        case .chunkEnd:
            guard buffer.count >= 2 else {
                guard buffer.isEmpty || buffer[0] == Grammar.carriageReturn else { throw .chunkOverrun }
                return false
            }
            guard buffer.take(2).elementsEqual([Grammar.carriageReturn, Grammar.lineFeed]) else { throw .chunkOverrun }
            phase = .chunkSize
        default: break
        }
        return true
    }

    private mutating func chunkSize(_ line: ArraySlice<UInt8>) throws(Refusal) -> Int {
        let chunk = try ChunkLine(line)
        extensionBytes += chunk.extensionBytes
        guard extensionBytes <= limits.chunkExtensionBytes else {
            throw .tooLarge("The chunk extensions are too long.")
        }
        guard chunk.size <= bodyLimit - bodyBytes else {
            throw .tooLarge("The body is larger than \(bodyLimit) bytes.")
        }
        return chunk.size
    }

    /// Moves up to `wanted` bytes to the body and returns how many are still missing.
    private mutating func takeData(_ wanted: Int) -> Int {
        guard !buffer.isEmpty else { return wanted }
        let part = buffer.take(wanted)
        body.append(contentsOf: part)
        bodyBytes += part.count
        return wanted - part.count
    }

    /// The next line of the request; it counts towards the size of the head.
    private mutating func nextLine(limit: Int, over refusal: Refusal) throws(Refusal) -> ArraySlice<UInt8>? {
        guard let line = try buffer.line(limit: limit, over: refusal) else { return nil }
        lineBytes += line.count + 2
        return line
    }

    private mutating func countField() throws(Refusal) {
        fieldCount += 1
        guard fieldCount <= limits.headerCount else { throw .headTooLarge }
    }

    private var message: Message? {
        guard let head else { return nil }
        return Message(
            method: head.method, path: head.path, query: head.query, headers: head.headers, body: body,
            keepsAlive: head.keepsAlive, isOld: head.isOld, isStreamed: isStreamed)
    }

    /// Resets the state for the next request.
    private mutating func finish() {
        phase = .requestLine
        head = nil
        body = []
        bodyBytes = 0
        isStreamed = false
        lineBytes = 0
        fieldCount = 0
        extensionBytes = 0
        skippedEmptyLine = false
        continueIsDue = false
        isHead = false
        buffer.discardConsumed()
    }
}

/// Returns the maximum body size of a request that streams, by its method and percent-encoded path; nil for a request
/// that is handled once it is complete.
package typealias StreamRule = @Sendable (_ method: String, _ path: String) -> Int?

/// Returns the maximum size of a body that does not stream, by the percent-encoded path, where it is smaller than
/// `ServerLimits.bodyBytes`; nil elsewhere.
package typealias BodyRule = @Sendable (_ path: String) -> Int?

extension Refusal {
    fileprivate static let chunkOverrun = Refusal.badRequest("A chunk is longer than its stated size.")
}
