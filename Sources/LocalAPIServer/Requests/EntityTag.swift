internal import CacheStore
internal import SocketServer

/// Entity tags (RFC 9110, 8.8.3) and the conditions that callers build from them (13.1).
///
/// A record's tag has two parts: a hash of the record's own members, and one of what is shown with it (`_sync`,
/// `_labels`, `_include`). `If-None-Match` compares both. `If-Match` compares only the first, because sending a change
/// to the upstream changes `_sync`, which is no reason to refuse the next change.
enum EntityTag {
    private struct Tag {
        var isWeak: Bool
        /// Without the ending of a compressed answer's.
        var text: Substring
    }

    /// What the tag of a compressed answer has at its end.
    static let codedEnding = "-gzip"

    /// The tag of the compressed answer. By bytes, because to put texts together takes several times as long.
    static func coded(_ tag: String) -> String {
        var bytes = Array(tag.utf8)
        bytes.removeLast()
        bytes += codedEnding.utf8
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    private enum Condition {
        case any
        case oneOf([Tag])
    }

    static func text(of version: RecordVersion) -> String {
        // In one piece: joining its parts takes as long as hashing a record.
        String(unsafeUninitializedCapacity: 35) { text in
            text[0] = UInt8(ascii: "\"")
            writeHex(version.record, to: text, at: 1)
            text[17] = UInt8(ascii: "-")
            writeHex(version.rest, to: text, at: 18)
            text[34] = UInt8(ascii: "\"")
            return 35
        }
    }

    /// The tag of a whole answer.
    static func text(of bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 18) { text in
            text[0] = UInt8(ascii: "\"")
            writeHex(RecordVersion.mark(of: bytes), to: text, at: 1)
            text[17] = UInt8(ascii: "\"")
            return 18
        }
    }

    /// Whether the caller already has this version (`If-None-Match`); a malformed field is ignored.
    static func isKnown(_ tag: String, to request: Request) -> Bool { isKnown(tag, to: known(by: request)) }

    /// The values of `If-None-Match`; none of a caller who knows no version.
    static func known(by request: Request) -> [String] { request.headers[all: "If-None-Match"] }

    static func isKnown(_ tag: String, to values: [String]) -> Bool {
        guard let first = values.first else { return false }
        // Most callers send back the only tag that they have, which need not be taken apart.
        if values.count == 1 {
            if first == tag { return true }
            if first.utf8.count == tag.utf8.count + codedEnding.utf8.count, first == coded(tag) { return true }
        }
        switch condition(values) {
        case nil: return false
        case .any: return true
        case .oneOf(let tags): return tags.contains { $0.text == tag.dropFirst().dropLast() }
        }
    }

    /// The versions that a write expects (`If-Match`). A malformed field is an error: it must not count as no
    /// condition.
    static func expected(by request: Request) throws(Problem) -> ExpectedVersion {
        try condition("If-Match", of: request).map(expected) ?? .any
    }

    /// What a condition may be, for messages.
    static let forms = "* or one or more tags as ETag has them, such as \"0123abcd-4567cdef\""

    /// The versions that these conditions name; nil for a malformed one.
    static func expected(_ values: [String]) -> ExpectedVersion? { condition(values).map(expected) }

    private static func expected(_ condition: Condition) -> ExpectedVersion {
        switch condition {
        case .any: .any
        // A weak tag never matches here (RFC 9110, 13.1.1).
        case .oneOf(let tags): .oneOf(Set(tags.filter { !$0.isWeak }.compactMap { mark($0.text) }))
        }
    }

    /// The versions that a write must not find (`If-None-Match`); nil without the field. Weak tags count (RFC 9110,
    /// 13.1.2), and a malformed field is an error.
    static func unwanted(by request: Request) throws(Problem) -> ExpectedVersion? {
        switch try condition("If-None-Match", of: request) {
        case nil: return nil
        case .any: return .any
        case .oneOf(let tags): return .oneOf(Set(tags.compactMap { mark($0.text) }))
        }
    }

    /// Throws if the request is only for other representations (`If-Match`) than that of `tag`; nil if there is none.
    static func requireMatch(_ tag: String?, of request: Request) throws(Problem) {
        let isMet =
            switch try condition("If-Match", of: request) {
            case nil, .any: true
            case .oneOf(let tags):
                tags.contains { !$0.isWeak && $0.text == (tag ?? "\"\"").dropFirst().dropLast() }
            }
        guard isMet else {
            throw Problem(
                .versionMismatch, "this is not the version that If-Match names; read it without the condition")
        }
    }

    private static func mark(_ tag: Substring) -> UInt64? {
        let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 16 }) else { return nil }
        return UInt64(parts[0], radix: 16)
    }

    /// What a field of the request says; nil without the field.
    private static func condition(_ name: String, of request: Request) throws(Problem) -> Condition? {
        let values = request.headers[all: name]
        guard !values.isEmpty else { return nil }
        guard let condition = condition(values) else { throw .header(name, "\(name) takes \(forms)") }
        return condition
    }

    /// Nil for text that is neither `*` nor a list of tags.
    private static func condition(_ values: [String]) -> Condition? {
        let text = values.joined(separator: ",")
        if text.utf8.elementsEqual("*".utf8) { return .any }
        var tags: [Tag] = []
        var rest = text.utf8[...]
        while true {
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { return tags.isEmpty ? nil : .oneOf(tags) }
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.popFirst() == UInt8(ascii: "\""), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else {
                return nil
            }
            let text = Substring(rest[..<end])
            tags.append(
                Tag(isWeak: isWeak, text: text.hasSuffix(codedEnding) ? text.dropLast(codedEnding.count) : text))
            rest = rest[rest.index(after: end)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
    }

    /// Sixteen digits.
    private static func writeHex(_ number: UInt64, to text: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        for position in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * position)) & 15
            text[start + position] = digit < 10 ? 0x30 + digit : 0x57 + digit
        }
    }
}
