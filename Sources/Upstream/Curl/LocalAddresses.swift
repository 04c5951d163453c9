internal import Glibc

/// The addresses from which packets can leave this machine now: those of links that are up and running.
package enum LocalAddresses {
    /// As text; nil when the system cannot list them.
    package static func usable() -> Set<String>? {
        let needed = UInt32(IFF_UP | IFF_RUNNING)
        return all { $0.ifa_flags & needed == needed ? text(of: $0.ifa_addr) : nil }.map(Set.init)
    }

    /// Whether a `sockaddr` is one of `ends` (an address as text, and a port), or leads to it: the unspecified address
    /// leads to this machine, and a server at it is reached at all addresses.
    package static func leads(_ address: UnsafeRawPointer, to ends: [(address: String, port: UInt16)]) -> Bool {
        guard var text = text(of: address), let port = port(of: address) else { return false }
        if text.hasPrefix("::ffff:") { text = String(text.dropFirst(7)) }
        return ends.contains { end in
            guard end.port == port else { return false }
            let everywhere = ["0.0.0.0", "::"]
            if end.address == text || everywhere.contains(text) { return true }
            return everywhere.contains(end.address)
                && (text == "::1" || text.hasPrefix("127.") || usable()?.contains(text) == true)
        }
    }

    static func port(of address: UnsafeRawPointer) -> UInt16? {
        switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET: UInt16(bigEndian: address.loadUnaligned(as: sockaddr_in.self).sin_port)
        case AF_INET6: UInt16(bigEndian: address.loadUnaligned(as: sockaddr_in6.self).sin6_port)
        default: nil
        }
    }

    /// The networks that this machine is part of: no router, and so no firewall, stands before their hosts. Nil when the
    /// system cannot list them.
    static func networks() -> [NetworkPrefix]? {
        all { entry in
            guard let address = text(of: entry.ifa_addr), let mask = text(of: entry.ifa_netmask) else { return nil }
            return NetworkPrefix(of: address, mask: mask)
        }
    }

    /// What `value` returns for the addresses of this machine; nil when the system cannot list them.
    private static func all<Value>(_ value: (ifaddrs) -> Value?) -> [Value]? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var values: [Value] = []
        var next = first
        while let entry = next?.pointee {
            if let value = value(entry) { values.append(value) }
            next = entry.ifa_next
        }
        return values
    }

    static func text(of address: UnsafeRawPointer?) -> String? {
        guard let address else { return nil }
        let family = Int32(address.loadUnaligned(as: sa_family_t.self))
        let bytes: UnsafeRawPointer
        switch family {
        case AF_INET: bytes = address + (MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 0)
        case AF_INET6: bytes = address + (MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 0)
        default: return nil
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        return inet_ntop(family, bytes, &text, socklen_t(text.count)).map { String(cString: $0) }
    }
}
