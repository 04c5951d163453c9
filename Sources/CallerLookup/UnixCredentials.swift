internal import CLinux
internal import Glibc

/// The process that connected to a Unix socket, as it was at that time (unix(7)).
enum UnixCredentials {
    /// `SO_PEERGROUPS`, which Glibc does not name.
    private static let peerGroups: Int32 = 59

    static func ofPeer(of descriptor: Int32) -> PeerCredentials? {
        var domain: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0, domain == AF_UNIX else { return nil }
        var credentials = clinux_credentials()
        size = socklen_t(MemoryLayout<clinux_credentials>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return PeerCredentials(user: credentials.uid, groups: [credentials.gid] + groups(ofPeerOf: descriptor))
    }

    private static func groups(ofPeerOf descriptor: Int32) -> [UInt32] {
        let width = MemoryLayout<UInt32>.size
        var groups = [UInt32](repeating: 0, count: 64)
        while true {
            var size = socklen_t(groups.count * width)
            if getsockopt(descriptor, SOL_SOCKET, peerGroups, &groups, &size) == 0 {
                return Array(groups.prefix(Int(size) / width))
            }
            // If there are more, the kernel reports the required size.
            guard errno == ERANGE, Int(size) > groups.count * width else { return [] }
            groups = [UInt32](repeating: 0, count: Int(size) / width)
        }
    }
}
