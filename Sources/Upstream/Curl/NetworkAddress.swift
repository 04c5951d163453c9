/// Whether a host elsewhere on the internet could have an address.
enum NetworkAddress {
    /// False for this machine and its networks, for private and reserved addresses, for those that lead to IPv4 addresses
    /// by a tunnel, and for text that is not an address.
    static func isPublic(_ text: String, from networks: [NetworkPrefix]? = LocalAddresses.networks()) -> Bool {
        guard let networks, let bytes = NetworkPrefix.bytes(of: text) else { return false }
        return !(special + networks).contains { $0.contains(bytes) }
            && (bytes.count == 4 || unicast.contains { $0.contains(bytes) })
    }

    /// Whether it is this machine's own loopback.
    static func isLoopback(_ text: String) -> Bool {
        guard let bytes = NetworkPrefix.bytes(of: text) else { return false }
        return loopback.contains { $0.contains(bytes) }
    }

    private static let loopback = ["127.0.0.0/8", "::1/128"].compactMap(NetworkPrefix.init)

    /// Global unicast: all that IPv6 has given out so far (RFC 4291, 2.4).
    private static let unicast = ["2000::/3"].compactMap(NetworkPrefix.init)

    /// https://www.iana.org/assignments/iana-ipv4-special-registry, and the same of IPv6 within `unicast`.
    private static let special = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ].compactMap(NetworkPrefix.init)
}
