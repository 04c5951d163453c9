internal import CLinux
internal import Glibc

/// Recognises connections that this process has made to itself.
package enum OwnProcess {
    /// Whether the other end of an accepted connection is a socket of this process.
    ///
    /// Asks for the port of each open descriptor: call it only for a caller with this process's user.
    package static func isPeer(of descriptor: Int32) -> Bool {
        guard let tuple = SocketTuple(ofPeerOf: descriptor) else { return isUnixPeer(of: descriptor) }
        // Seen from the other end, source and destination change places.
        return (0..<descriptorLimit).contains { other in
            guard other != descriptor, localPort(of: other) == tuple.source.port,
                let end = SocketTuple(ofPeerOf: other)
            else { return false }
            return end.destination == tuple.source && end.source.port == tuple.destination.port
        }
    }

    private static func isUnixPeer(of descriptor: Int32) -> Bool {
        var credentials = clinux_credentials()
        var size = socklen_t(MemoryLayout<clinux_credentials>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0
            && credentials.pid == getpid()
    }

    /// Nil for what is no socket of TCP over IP.
    private static func localPort(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        let family = Int32(storage.ss_family)
        guard result == 0, family == AF_INET || family == AF_INET6 else { return nil }
        // Both families have the port after the family.
        return withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// Where it is not known which descriptors there are, no more are looked at.
    private static let most = 1 << 16

    /// No descriptor is greater: `FDSize` (proc(5)), far cheaper than the list of all. Without /proc, or where no more files can be
    /// open, it is what this process may have.
    private static var descriptorLimit: Int32 {
        let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return Int32(min(max(sysconf(Int32(_SC_OPEN_MAX)), 0), most)) }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { text in
            guard let start = text.baseAddress else { return 0 }
            start[max(read(file, start, text.count - 1), 0)] = 0
            return strstr(start, "\nFDSize:").map { Int32(clamping: strtol($0 + 8, nil, 10)) } ?? 0
        }
    }
}
