internal import Glibc

/// The addresses from which packets can leave this machine now: those of links that are up and running.
package enum LocalAddresses {
    /// As text; nil when the system cannot list them.
    package static func usable() -> Set<String>? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        let needed = UInt32(IFF_UP | IFF_RUNNING)
        var found: Set<String> = []
        var next = first
        while let entry = next?.pointee {
            if entry.ifa_flags & needed == needed, let text = text(of: entry.ifa_addr) { found.insert(text) }
            next = entry.ifa_next
        }
        return found
    }

    /// Whether a `sockaddr` is one of `ends` (an address as text, and a port), or leads to it: the unspecified address
    /// leads to this machine, and a server at it is reached at all addresses.
    package static func leads(_ address: UnsafeRawPointer, to ends: [(address: String, port: UInt16)]) -> Bool {
        let pointer = UnsafeMutableRawPointer(mutating: address).assumingMemoryBound(to: sockaddr.self)
        guard var text = text(of: pointer), let port = port(of: address) else { return false }
        if text.hasPrefix("::ffff:") { text = String(text.dropFirst(7)) }
        return ends.contains { end in
            guard end.port == port else { return false }
            let everywhere = ["0.0.0.0", "::"]
            if end.address == text || everywhere.contains(text) { return true }
            return everywhere.contains(end.address)
                && (text == "::1" || text.hasPrefix("127.") || usable()?.contains(text) == true)
        }
    }

    private static func port(of address: UnsafeRawPointer) -> UInt16? {
        switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET: UInt16(bigEndian: address.loadUnaligned(as: sockaddr_in.self).sin_port)
        case AF_INET6: UInt16(bigEndian: address.loadUnaligned(as: sockaddr_in6.self).sin6_port)
        default: nil
        }
    }

    static func text(of address: UnsafeMutablePointer<sockaddr>?) -> String? {
        guard let address else { return nil }
        let raw = UnsafeRawPointer(address)
        let family = Int32(raw.loadUnaligned(as: sa_family_t.self))
        let bytes: UnsafeRawPointer
        switch family {
        case AF_INET: bytes = raw + (MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 0)
        case AF_INET6: bytes = raw + (MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 0)
        default: return nil
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        return inet_ntop(family, bytes, &text, socklen_t(text.count)).map { String(cString: $0) }
    }
}

/// An IP address, and whether a host on the internet could have it.
enum NetworkAddress {
    /// False for this machine, private networks (RFC 1918, RFC 4193, RFC 6598), link-local addresses and text that is
    /// not an address.
    static func isPublic(_ text: String) -> Bool {
        if let bytes = bytes(of: text, AF_INET, 4) { return isPublic(v4: bytes) }
        guard let bytes = bytes(of: text, AF_INET6, 16) else { return false }
        // An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2).
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return isPublic(v4: Array(bytes[12...]))
        }
        // Only global unicast (RFC 4291, 2.4).
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
