/// The trace that a change belongs to: what its caller sent as `traceparent` and `tracestate` (W3C Trace Context,
/// version 00).
///
/// A request that is made for the change is a span of its own in the same trace.
package struct TraceContext: Sendable, Equatable {
    /// 32 hexadecimal digits.
    package let id: String
    /// The caller's span, 16 hexadecimal digits.
    private let parent: String
    /// Whether the trace is recorded, and whether its id is random.
    private let flags: UInt8
    /// What tracing systems keep with the trace; nil if there is nothing.
    private let state: String?
    /// Tells the spans of several attempts apart.
    package var attempt = 0

    private static let knownFlags: UInt8 = 0b11
    /// Of a `traceparent` of version 00; a later version may be longer.
    private static let length = 55

    /// Nil for a `traceparent` that the specification tells us to ignore. A `tracestate` that cannot be read is dropped.
    package init?(traceparent: String, tracestate: String? = nil) {
        let rest = traceparent.utf8.dropFirst(Self.length)
        let parts = traceparent.utf8.prefix(Self.length)
            .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.map(\.utf8.count) == [2, 32, 16, 2], parts.allSatisfy(Self.isHexadecimal) else { return nil }
        guard parts[0] != "ff", rest.isEmpty || parts[0] != "00" && rest.first == UInt8(ascii: "-") else { return nil }
        guard parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" }),
            let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        id = parts[1]
        parent = parts[2]
        self.flags = flags & Self.knownFlags
        state = tracestate.flatMap { TraceState.text(of: $0) }
    }

    /// Nil for any other text than `stored`.
    package init?(stored: String) {
        let parts = stored.split(separator: " ", maxSplits: 1)
        guard let first = parts.first else { return nil }
        self.init(traceparent: String(first), tracestate: parts.count > 1 ? String(parts[1]) : nil)
    }

    /// As the queue keeps it: `traceparent`, and `tracestate` after a space.
    package var stored: String { state.map { "\(traceparent) \($0)" } ?? traceparent }

    /// As the caller sent it, in version 00.
    package var traceparent: String { text(ofSpan: parent) }

    /// The headers of a request that is made for it. Its span follows from `key`, which names the request, so that a
    /// replay makes the same one.
    func headers(of key: String) -> [WireRequest.Header] {
        let span = KeyForm.text(alphabet: Array("0123456789abcdef"), length: 16).key(from: "\(id) \(attempt) \(key)")
        // An id of zeros is none.
        let own = span.contains { $0 != "0" } ? span : parent
        let traceparent = WireRequest.Header("traceparent", text(ofSpan: own))
        return [traceparent] + (state.map { [WireRequest.Header("tracestate", $0)] } ?? [])
    }

    private func text(ofSpan span: String) -> String { "00-\(id)-\(span)-0\(flags)" }

    private static func isHexadecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

/// The list in `tracestate`.
private enum TraceState {
    private static let mostMembers = 32
    /// What is passed on, in characters. The specification asks for at least that much, and to drop long members first.
    private static let longest = 512
    private static let longMember = 128

    /// The list as it is passed on; nil if it is empty or cannot be read.
    static func text(of list: String) -> String? {
        var members: [String] = []
        var keys: Set<String> = []
        for part in list.utf8.split(separator: UInt8(ascii: ",")) {
            let member = trimmed(part)
            guard !member.isEmpty else { continue }
            guard let key = key(of: member), keys.insert(key).inserted else { return nil }
            members.append(String(decoding: member, as: UTF8.self))
        }
        guard members.count <= mostMembers else { return nil }
        if size(of: members) > longest { members.removeAll { $0.utf8.count > longMember } }
        while size(of: members) > longest { members.removeLast() }
        return members.isEmpty ? nil : members.joined(separator: ",")
    }

    private static func size(of members: [String]) -> Int { members.reduce(-1) { $0 + $1.utf8.count + 1 } }

    private static func trimmed(_ part: Substring.UTF8View) -> Substring.UTF8View {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var part = part.drop(while: isSpace)
        while let last = part.last, isSpace(last) { part = part.dropLast() }
        return part
    }

    /// The key of a member; nil if this is none.
    private static func key(of member: Substring.UTF8View) -> String? {
        guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let key = member[..<equals]
        let value = member[equals...].dropFirst()
        guard let first = key.first, isLetterOrDigit(first), key.count <= 256, key.allSatisfy(isOfKey),
            !value.isEmpty, value.count <= 256,
            value.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") })
        else { return nil }
        return String(decoding: key, as: UTF8.self)
    }

    private static func isOfKey(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "_-*/@".utf8.contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
