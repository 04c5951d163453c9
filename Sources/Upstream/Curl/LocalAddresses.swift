internal import Glibc

/// The addresses by which packets can leave this machine now: those of links that are up and lead somewhere.
package enum LocalAddresses {
    /// As text; nil when the system does not tell.
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
