/// The target of a request line, in origin form (`/path?query`) or absolute form (`http://host/path?query`): RFC 9112,
/// 3.2.1 and 3.2.2.
///
/// Refuses the forms of proxies and tunnels, and `OPTIONS *`.
struct RequestTarget {
    /// The host and port of the absolute form.
    let authority: String?
    /// Still percent-encoded, as sent; begins with a slash.
    let path: String
    /// The part after `?`, still percent-encoded; nil when there was no `?`.
    let query: String?

    private static let scheme = "http://".utf8

    init(_ target: Slice<UnsafeBufferPointer<UInt8>>) throws(Refusal) {
        var rest = target
        if target.first == UInt8(ascii: "/") {
            authority = nil
        } else if Self.isAbsolute(target) {
            rest = rest.dropFirst(Self.scheme.count)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            let host = String(decoding: rest[..<end], as: UTF8.self)
            guard Grammar.isHost(host) else { throw .badRequest("The target does not name a host and port.") }
            authority = host
            rest = rest[end...]
        } else {
            throw .badRequest("The target is not a path; request a path that begins with a slash.")
        }
        try Self.check(rest)
        let mark = rest.firstIndex(of: UInt8(ascii: "?"))
        let path = String(decoding: rest[..<(mark ?? rest.endIndex)], as: UTF8.self)
        self.path = path.isEmpty ? "/" : path
        query = mark.map { String(decoding: rest[($0 + 1)...], as: UTF8.self) }
    }

    private static func isAbsolute(_ target: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        target.count >= scheme.count && zip(target, scheme).allSatisfy { Grammar.lowercase($0) == $1 }
    }

    private static func check(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) throws(Refusal) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "%") {
                guard bytes.endIndex - index > 2, Grammar.hexDigit(bytes[index + 1]) != nil,
                    Grammar.hexDigit(bytes[index + 2]) != nil
                else { throw .badRequest("A percent sign in the target is not followed by two hexadecimal digits.") }
                index += 3
            } else if Grammar.isTargetByte(bytes[index]) {
                index += 1
            } else {
                let hex = (bytes[index] < 0x10 ? "0" : "") + String(bytes[index], radix: 16, uppercase: true)
                throw .badRequest("A character in the target must be percent-encoded: send %\(hex) in its place.")
            }
        }
    }
}
