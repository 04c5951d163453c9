internal import EntitySchema

/// The base address of an upstream: scheme, host, port and the start of every path. References in its responses are
/// resolved to a path below it (RFC 3986, 5) or rejected, so credentials go nowhere else.
struct BaseAddress {
    private let origin: Origin?
    /// The path that all others start with; empty, or with a slash at its start and none at its end.
    private let prefix: String

    private struct Origin: Equatable {
        var scheme: String
        var host: String
        var port: Int

        /// Nil for an unknown scheme, an invalid port, and an address with a user name, which many parsers misread.
        init?(scheme: Substring, authority: Substring) {
            self.scheme = scheme.lowercased()
            guard let usual = ["http": 80, "https": 443][self.scheme], !authority.contains("@") else { return nil }
            let hostEnd = authority.lastIndex(of: "]") ?? authority.startIndex
            let colon = authority[hostEnd...].firstIndex(of: ":") ?? authority.endIndex
            let digits = authority[colon...].dropFirst()
            guard let port = digits.isEmpty ? usual : Int(digits), colon > authority.startIndex else { return nil }
            host = authority[..<colon].lowercased()
            self.port = port
        }
    }

    /// `text` is absolute and has no slash at its end.
    init(_ text: String) {
        let parts = Reference(text)
        origin = parts.authority.flatMap { authority in
            parts.scheme.flatMap { Origin(scheme: $0, authority: authority) }
        }
        prefix = parts.authority == nil ? "" : String(parts.path)
    }

    /// Whether its name alone shows that it is on this machine.
    var isLoopback: Bool { origin.map { ["localhost", "127.0.0.1", "[::1]"].contains($0.host) } ?? false }

    /// `http` or `https`; nil for another one.
    var scheme: String? { origin?.scheme }

    /// Scheme and host of an absolute address, as `https://example.org`; nil for any other.
    static func host(of address: String) -> String? {
        let target = Reference(address)
        guard let scheme = target.scheme, let authority = target.authority else { return nil }
        return Origin(scheme: scheme, authority: authority).map { "\($0.scheme)://\($0.host.prefix(253))" }
    }

    /// In bytes. No longer URL is ever sent, and taking one of megabytes apart takes forty times its memory.
    static let longest = 64 << 10

    /// The path and query, below this address, of a reference in a response to `path`; the query alone if it is this address.
    ///
    /// Nil for a reference to another place, or text that is not a reference or longer than `longest`. `forgivesHTTP`: a program
    /// behind a proxy with TLS often takes itself to be at `http://`, which then means this address at `https://`.
    func path(of reference: String, from path: String, forgivesHTTP: Bool = false) -> String? {
        guard reference.utf8.count <= Self.longest else { return nil }
        guard !reference.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) else {
            return nil
        }
        let target = Reference(reference)
        if var scheme = target.scheme {
            if forgivesHTTP, scheme.lowercased() == "http", origin?.scheme == "https" { scheme = "https" }
            guard let authority = target.authority, Origin(scheme: scheme, authority: authority) == origin else {
                return nil
            }
        } else if let authority = target.authority {
            guard let origin, Origin(scheme: origin.scheme[...], authority: authority) == origin else { return nil }
        }
        let base = Reference(prefix + path)
        var full = String(target.path)
        var query = target.query
        if target.authority == nil, !full.hasPrefix("/") {
            if full.isEmpty, query == nil { query = base.query }
            let folder = base.path[..<(base.path.lastIndex(of: "/") ?? base.path.startIndex)]
            full = full.isEmpty ? String(base.path) : "\(folder)/\(full)"
        }
        guard !Self.hidesDots(full) else { return nil }
        full = Self.withoutDots(full)
        // HAPI FHIR has all next pages at the base itself: `https://host/fhir?_getpages=…`.
        guard full.hasPrefix("\(prefix)/") || full == prefix && query != nil else { return nil }
        return full.dropFirst(prefix.count) + (query.map { "?\($0)" } ?? "")
    }

    /// Whether a part of the path leads up only for some servers: `..%2Fadmin`, `..;/admin`.
    private static func hidesDots(_ path: String) -> Bool {
        path.split(separator: "/").contains { segment in
            let plain = segment.lowercased().replacing("%2e", with: ".").replacing("%3b", with: ";")
            return plain != ".." && Entity.leadsUp(plain.replacing("%2f", with: "/").replacing("%5c", with: "\\"))
        }
    }

    /// RFC 3986, 5.2.4. An escaped dot counts as a dot, as it does for many servers.
    private static func withoutDots(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(segments.indices, segments) {
            let isLast = index == segments.endIndex - 1
            switch segment.lowercased().replacing("%2e", with: ".") {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}

/// The parts of a URI reference (RFC 3986, appendix B), without the fragment, and with all that is not ASCII escaped
/// (RFC 3987, 3.1): as a `Character`, a slash with a combining mark after it is no slash, but for libcurl and servers it is.
private struct Reference {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?

    init(_ text: String) {
        var rest = Self.ascii(text).prefix { $0 != "#" }
        if let question = rest.firstIndex(of: "?") {
            query = rest[question...].dropFirst()
            rest = rest[..<question]
        }
        if let colon = rest.firstIndex(of: ":"), !rest[..<colon].contains("/") {
            scheme = rest[..<colon]
            rest = rest[colon...].dropFirst()
        }
        if rest.hasPrefix("//") {
            let slash = rest.dropFirst(2).firstIndex(of: "/") ?? rest.endIndex
            authority = rest[..<slash].dropFirst(2)
            rest = rest[slash...]
        }
        path = rest
    }

    private static func ascii(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
        let parts = text.utf8.map { byte in
            byte < 0x80 ? String(Unicode.Scalar(byte)) : "%\(String(byte, radix: 16, uppercase: true))"
        }
        return parts.joined()
    }
}
