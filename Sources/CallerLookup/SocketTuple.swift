internal import Glibc

/// The two ends that identify a TCP connection; the source is the end whose owner is queried.
struct SocketTuple: Equatable {
    var source: End
    var destination: End

    /// An address of either family. IPv4 addresses are stored mapped to IPv6 (RFC 4291, 2.5.5.2), because each end of a
    /// connection may be a socket of either family.
    struct End: Equatable {
        /// 16 bytes in network order.
        var address: [UInt8]
        var port: UInt16

        var isIPv4: Bool { address.starts(with: Self.mapped) }

        var isLoopback: Bool { isIPv4 ? address[12] == 127 : address == [UInt8](repeating: 0, count: 15) + [1] }

        /// `address` has 4 or 16 bytes, as the kernel writes it.
        init(address: some Collection<UInt8>, port: UInt16) {
            self.address = address.count == 4 ? Self.mapped + address : Array(address)
            self.port = port
        }

        /// The unspecified address of the same family, without a port.
        var anyAddress: End { End(address: [UInt8](repeating: 0, count: isIPv4 ? 4 : 16), port: 0) }

        private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    }

    var isLoopback: Bool { source.isLoopback && destination.isLoopback }

    /// Whether both ends are on this machine: the kernel then also uses the called address for the caller.
    var isWithinMachine: Bool { isLoopback || source.address == destination.address }

    init(source: End, destination: End) {
        self.source = source
        self.destination = destination
    }

    /// The tuple of an accepted socket from the caller's side: the source is the remote end. Nil unless it is TCP over
    /// IP.
    init?(ofPeerOf descriptor: Int32) {
        guard let remote = Self.end({ getpeername(descriptor, $0, $1) }),
            let local = Self.end({ getsockname(descriptor, $0, $1) })
        else { return nil }
        self.init(source: remote, destination: local)
    }

    private static func end(
        _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> End? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask($0, &size) }
        }
        guard result == 0 else { return nil }
        return withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let address = bytes.loadUnaligned(as: sockaddr_in.self)
                return withUnsafeBytes(of: address.sin_addr) {
                    End(address: $0, port: UInt16(bigEndian: address.sin_port))
                }
            case AF_INET6:
                let address = bytes.loadUnaligned(as: sockaddr_in6.self)
                return withUnsafeBytes(of: address.sin6_addr) {
                    End(address: $0, port: UInt16(bigEndian: address.sin6_port))
                }
            default: return nil
            }
        }
    }
}
