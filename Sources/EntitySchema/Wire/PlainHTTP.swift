/// Says of an address whether everything sent there can be read on the network.
package enum PlainHTTP {
    /// True for `http://` and a host that is not certainly this machine.
    package static func leavesMachine(_ address: String) -> Bool {
        // By bytes, as libcurl reads it: a combining mark would hide the sign before it.
        let (scheme, bytes) = ("http://", address.utf8)
        guard Substring(bytes.prefix(scheme.utf8.count)).lowercased() == scheme else { return false }
        let authority = bytes.dropFirst(scheme.utf8.count).prefix { !"/?#".utf8.contains($0) }
        // Some programs end the host at a backslash, and libcurl does not.
        guard !authority.contains(UInt8(ascii: "\\")) else { return true }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
        return !isLoopback(Substring(host))
    }

    /// Whether a host, with or without a port, is this machine: by its number, or the name `localhost` (RFC 6761, 6.3).
    static func isLoopback(_ host: Substring) -> Bool {
        if host.hasPrefix("[") { return host == "[::1]" || host.hasPrefix("[::1]:") }
        let name = host.prefix { $0 != ":" }
        // Only as they are usually written: libcurl takes 0127 for an octal number, which is 87.
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { part in
            UInt8(part).flatMap { String($0) == part ? $0 : nil }
        }
        return name.lowercased() == "localhost" || numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }
}
