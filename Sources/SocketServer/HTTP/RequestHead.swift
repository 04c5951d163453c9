internal import JSONText

/// Request line and header fields, parsed line by line, and what they say about the body (RFC 9112, 3, 5 and 6).
struct RequestHead {
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    private(set) var method: String
    private(set) var path: String
    private(set) var query: String?
    private(set) var headers = Headers()
    private(set) var framing = Framing.length(0)
    private(set) var keepsAlive: Bool
    private(set) var awaitsContinue = false
    /// The caller speaks HTTP/1.0, which has neither chunked coding nor a Host that it must send.
    let isOld: Bool
    /// The host and port of a target in absolute form.
    private let authority: String?

    /// Parses the request line without its CRLF.
    init(line: ArraySlice<UInt8>) throws(Refusal) {
        // The bytes themselves: a walk through a slice of an array takes several times as long.
        self = try line.withUnsafeBufferPointer { (line) throws(Refusal) in try RequestHead(line) }
    }

    private init(_ line: UnsafeBufferPointer<UInt8>) throws(Refusal) {
        guard let first = line.firstIndex(of: Grammar.space), let last = line.lastIndex(of: Grammar.space),
            first < last, !line[(first + 1)..<last].contains(Grammar.space), Grammar.isToken(line[..<first])
        else {
            throw .badRequest("The request line must be a method, a target and a version, separated by single spaces.")
        }
        isOld = try Self.isOld(version: line[(last + 1)...])
        keepsAlive = !isOld
        let target = try RequestTarget(line[(first + 1)..<last])
        method = String(decoding: line[..<first], as: UTF8.self)
        authority = target.authority
        path = target.path
        query = target.query
        headers.reserveCapacity(8)
    }

    /// Whether the version is 1.0. Every version except 1.1 and 1.0 is rejected (RFC 9110, 15.6.6).
    private static func isOld(version: Slice<UnsafeBufferPointer<UInt8>>) throws(Refusal) -> Bool {
        if Grammar.same(version, "HTTP/1.1") { return false }
        if Grammar.same(version, "HTTP/1.0") { return true }
        let digits = version.dropFirst(5)
        let isVersion =
            version.starts(with: "HTTP/".utf8) && digits.count == 3 && digits.dropFirst().first == UInt8(ascii: ".")
            && Grammar.isDigit(version[version.startIndex + 5]) && Grammar.isDigit(version[version.startIndex + 7])
        throw isVersion ? .otherVersion : .badRequest("The request line does not end in HTTP/1.1.")
    }

    /// Parses one header field line without its CRLF.
    mutating func append(line: ArraySlice<UInt8>) throws(Refusal) { headers.append(try Self.field(line)) }

    /// Splits a field line into name and trimmed value; header and trailer fields follow the same rules.
    static func field(_ line: ArraySlice<UInt8>) throws(Refusal) -> Headers.Field {
        try line.withUnsafeBufferPointer { (line) throws(Refusal) in try field(line) }
    }

    private static func field(_ line: UnsafeBufferPointer<UInt8>) throws(Refusal) -> Headers.Field {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? 0
        let name = UnsafeBufferPointer(rebasing: line[..<colon])
        guard Grammar.isToken(name) else {
            throw .badRequest("A header field must be a name, a colon and a value on one line.")
        }
        var value = line[(colon + 1)...]
        while let byte = value.first, byte == Grammar.space || byte == Grammar.tab { value.removeFirst() }
        while let byte = value.last, byte == Grammar.space || byte == Grammar.tab { value.removeLast() }
        guard Grammar.isValue(UnsafeBufferPointer(rebasing: value)) else {
            throw .badRequest("A header field contains a control character.")
        }
        let text = String(decoding: value, as: UTF8.self)
        return Headers.Field(
            name: String(decoding: name, as: UTF8.self),
            value: Grammar.isASCII(UnsafeBufferPointer(rebasing: value)) ? text : MarkRun.shortened(text))
    }

    /// Validates the head and determines the framing; call it once, at the empty line. The host of an absolute target
    /// takes the place of Host (RFC 9112, 3.2.2).
    mutating func finish(bodyLimit: Int) throws(Refusal) {
        var hosts = 0
        var length: Int?
        var coding: String?
        for field in headers.fields {
            switch field.name.utf8.count {
            case 4 where Headers.same(field.name, "Host"):
                hosts += 1
                guard Grammar.isHost(field.value) else { throw .badRequest("The Host field is not a host and port.") }
            case 6 where Headers.same(field.name, "Expect"):
                guard Headers.same(field.value, "100-continue") else { throw .unknownExpectation }
                // No 1xx is ever sent to HTTP/1.0 (RFC 9110, 10.1.1).
                awaitsContinue = !isOld
            case 10 where Headers.same(field.name, "Connection"):
                keepsAlive = keepsAlive && !Self.saysClose(field.value)
            case 14 where Headers.same(field.name, "Content-Length"):
                guard length == nil else { throw .badRequest("There is more than one Content-Length.") }
                length = try Self.contentLength(field.value)
            case 17 where Headers.same(field.name, "Transfer-Encoding"):
                guard coding == nil else { throw .badRequest("There is more than one Transfer-Encoding.") }
                coding = field.value
            default: break
            }
        }
        guard hosts == 1 || isOld && hosts == 0 else { throw .badRequest("There must be exactly one Host field.") }
        if let authority { headers.replace(name: "Host", value: authority) }
        try decideFraming(length: length, coding: coding, limit: bodyLimit)
    }

    private mutating func decideFraming(length: Int?, coding: String?, limit: Int) throws(Refusal) {
        if let coding {
            guard !isOld else { throw .badRequest("HTTP/1.0 has no Transfer-Encoding.") }
            guard length == nil else {
                throw .badRequest("A request cannot have both Content-Length and Transfer-Encoding.")
            }
            try Self.check(coding: coding)
            framing = .chunked
        } else if let length {
            guard length <= limit else { throw .tooLarge("The body is larger than \(limit) bytes.") }
            framing = .length(length)
        }
        awaitsContinue = awaitsContinue && framing != .length(0)
    }

    /// Only `chunked` is supported. Another coding before it is unknown; unless chunked is the last and the only one of
    /// its kind, the end of the body cannot be found (RFC 9112, 6.3 and 7.1).
    private static func check(coding: String) throws(Refusal) {
        if Headers.same(coding, "chunked") { return }
        var codings = coding.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { part in
            String(decoding: part.filter { $0 != Grammar.space && $0 != Grammar.tab }, as: UTF8.self)
        }
        let isLast = codings.popLast().map { Headers.same($0, "chunked") } ?? false
        let areOthers = codings.allSatisfy { Grammar.isToken($0.utf8) && !Headers.same($0, "chunked") }
        throw isLast && areOthers ? .unknownCoding : .badRequest("The last Transfer-Encoding is not chunked.")
    }

    /// Parses digits only (RFC 9110, 8.6); a number that overflows becomes the largest integer, which exceeds any
    /// limit.
    private static func contentLength(_ value: String) throws(Refusal) -> Int {
        guard !value.isEmpty, value.utf8.allSatisfy(Grammar.isDigit) else {
            throw .badRequest("The Content-Length is not a number of bytes in digits.")
        }
        return Int(value) ?? .max
    }

    private static func saysClose(_ value: String) -> Bool {
        value.utf8.split(separator: UInt8(ascii: ",")).contains { option in
            let token = option.filter { $0 != Grammar.space && $0 != Grammar.tab }
            return token.map(Grammar.lowercase).elementsEqual("close".utf8)
        }
    }
}
