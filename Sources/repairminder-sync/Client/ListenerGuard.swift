import CallerLookup
import Foundation
import Glibc
import SocketServer
import SystemCalls

/// Checks who listens at the daemon's address before a command sends anything there.
///
/// While the daemon is stopped, any user of the machine can take its port and would receive the token.
struct ListenerGuard: Sendable, Equatable {
    /// The users whose process may be the daemon, besides root and this user.
    var owners: Set<UInt32> = []

    /// Why nothing may be sent over a new connection, to the Unix socket at `path` if there is one; nil when it leads to the
    /// daemon, or to another machine.
    func refusal(of descriptor: Int32, at path: String? = nil, _ lookup: CallerLookup) -> String? {
        if let path, let detour = Self.detour(of: descriptor, from: path) { return detour }
        switch lookup.listener(at: descriptor) {
        case .otherMachine: return nil
        case .unknown:
            return "the kernel does not say which user listens there; use the daemon's Unix socket (--socket)"
        case .user(let user):
            guard !isAccepted(user) else { return nil }
            return "\(StateOwner.name(of: user)) listens there, and the daemon belongs to \(expected); "
                + "start the daemon, and find out why \(StateOwner.name(of: user)) has its address"
        }
    }

    /// The owner of the socket's directory, such as a daemon, may listen there, but could also put a link to a socket of root
    /// there.
    private static func detour(of descriptor: Int32, from path: String) -> String? {
        let folder = (path as NSString).deletingLastPathComponent
        guard let status = stat(of: folder), ![0, geteuid()].contains(status.st_uid) else { return nil }
        let owner = StateOwner.name(of: status.st_uid)
        // Asked of the connection, because the file may be another by now.
        guard case .unix(let bound) = SocketAddress.remote(of: descriptor),
            NamedFile.withoutLinks(bound) != NamedFile.withoutLinks(path)
        else { return nil }
        let isLink = stat(ofLink: path)?.isLink == true
        // A directory of another mount namespace, such as of a container, has other paths for the same sockets.
        guard isLink || access(bound, F_OK) == 0 else { return nil }
        return "it leads to the socket \(bound), because \(owner), who owns \(folder), has put a link there; find out "
            + "why, then restart the daemon"
    }

    func isAccepted(_ user: UInt32) -> Bool { user == 0 || user == geteuid() || owners.contains(user) }

    private var expected: String {
        let others = owners.subtracting([0, geteuid()]).sorted()
        let users = others.isEmpty ? [StateOwner.name(of: geteuid())] : others.map(StateOwner.name)
        return (users + (users == ["root"] ? [] : ["root"])).joined(separator: " or ")
    }

    // MARK: Owners

    /// Adds the owner of a file or directory that only the daemon or its administrator can have put there.
    ///
    /// Ignores paths below a directory in which another user could have created it first, such as /tmp, and those of others than
    /// `user`, if there is one.
    mutating func trustOwner(of path: String, only user: UInt32? = nil) {
        guard let place = Files.realPath(of: path), let owner = stat(ofLink: place)?.st_uid, owner == user ?? owner
        else { return }
        var folder = (place as NSString).deletingLastPathComponent
        while true {
            guard let status = stat(ofLink: folder), status.st_mode & 0o022 == 0,
                [0, geteuid(), owner].contains(status.st_uid)
            else { return }
            if folder == "/" { break }
            folder = (folder as NSString).deletingLastPathComponent
        }
        owners.insert(owner)
    }

    /// The same for the directory of a socket.
    mutating func trustOwner(ofFolderOf socket: String, only user: UInt32? = nil) {
        trustOwner(of: (socket as NSString).deletingLastPathComponent, only: user)
    }
}
