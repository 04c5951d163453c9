internal import Glibc

/// An IP address, as far as it tells whether anybody on the internet could have it.
enum NetworkAddress {
    /// False for this machine, its own networks (RFC 1918, RFC 4193, RFC 6598), link-local addresses and what is no address.
    static func isPublic(_ text: String) -> Bool {
        if let bytes = bytes(of: text, AF_INET, 4) { return isPublic(v4: bytes) }
        guard let bytes = bytes(of: text, AF_INET6, 16) else { return false }
        // An IPv4 address in IPv6's clothes (RFC 4291, 2.5.5.2).
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return isPublic(v4: Array(bytes[12...]))
        }
        // Global unicast alone (RFC 4291, 2.4).
        return bytes[0] & 0xE0 == 0x20
    }

    private static func isPublic(v4 bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168), (100, 64...127), (224..., _): false
        default: true
        }
    }

    private static func bytes(of text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}
