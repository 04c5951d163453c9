/// Says of an address whether everything sent there can be read on the network.
package enum PlainHTTP {
    /// True for `http://` and a host that is not certainly this machine.
    package static func leavesMachine(_ address: String) -> Bool {
        let scheme = "http://"
        guard address.prefix(scheme.count).lowercased() == scheme else { return false }
        let authority = address.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }
        let host = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
        return !isLoopback(host)
    }

    /// Whether a host, with or without a port, is this machine: by its number, or the name `localhost` (RFC 6761, 6.3).
    static func isLoopback(_ host: Substring) -> Bool {
        if host.hasPrefix("[") { return host == "[::1]" || host.hasPrefix("[::1]:") }
        let name = host.prefix { $0 != ":" }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return name.lowercased() == "localhost" || numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }
}
