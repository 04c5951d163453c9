internal import CLinux
internal import Glibc

/// Recognises connections that this process has made to itself.
package enum OwnProcess {
    /// Whether the other end of an accepted connection is a socket of this process.
    ///
    /// Goes through all open descriptors: ask only for a caller with this process's user.
    package static func isPeer(of descriptor: Int32) -> Bool {
        guard let tuple = SocketTuple(ofPeerOf: descriptor) else { return isUnixPeer(of: descriptor) }
        // Seen from the other end, source and destination change places.
        return descriptors.contains { other in
            guard other != descriptor, let end = SocketTuple(ofPeerOf: other) else { return false }
            return end.destination == tuple.source && end.source.port == tuple.destination.port
        }
    }

    private static func isUnixPeer(of descriptor: Int32) -> Bool {
        var credentials = clinux_credentials()
        var size = socklen_t(MemoryLayout<clinux_credentials>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0
            && credentials.pid == getpid()
    }

    /// Empty when /proc is not there.
    private static var descriptors: [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name) { found.append(number) }
        }
        return found
    }
}
