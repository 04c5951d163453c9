internal import CLinux
internal import Glibc
internal import SystemCalls

/// Identifies the user at the other end of a local connection by asking the kernel.
///
/// On a Unix socket that is the process that connected; on loopback TCP the owner of the caller's socket
/// (sock_diag(7)). In doubt a caller counts as unknown and must authenticate in another way.
package struct CallerLookup: Sendable {
    private let diagnosis: DiagnosisSocket?
    private let overflowIDs: OverflowIDs
    /// Why callers over TCP cannot be identified; nil when they can.
    package let problem: String?

    package init() { self.init(asksKernel: true) }

    /// Without `asksKernel` it is as on a kernel without sock_diag.
    init(asksKernel: Bool) {
        guard asksKernel else {
            (diagnosis, overflowIDs, problem) = (nil, OverflowIDs(), "sock_diag is not used")
            return
        }
        overflowIDs = OverflowIDs()
        do throws(CallerLookupError) {
            diagnosis = try DiagnosisSocket()
            problem = nil
        } catch {
            diagnosis = nil
            problem = error.description
        }
    }

    /// The caller of an accepted, connected socket; nil when unknown. Queries the kernel each time: cache the result.
    package func credentials(ofPeerOf descriptor: Int32) -> PeerCredentials? {
        let found = SocketTuple(ofPeerOf: descriptor).map { owner(of: $0, connectedTo: descriptor) }
        return (found ?? UnixCredentials.ofPeer(of: descriptor)).flatMap(overflowIDs.removed(from:))
    }

    /// Who listens at the other end of a connection that this process has opened and not used yet.
    ///
    /// On a Unix socket that is the process that called `listen`. On TCP within this machine it is the owner of the
    /// listening socket; where several listen (`SO_REUSEPORT`), of all of them: the kernel allows that to one user only.
    package func listener(at descriptor: Int32) -> ConnectionListener {
        guard let tuple = SocketTuple(ofPeerOf: descriptor) else {
            return ConnectionListener(UnixCredentials.ofPeer(of: descriptor).flatMap(overflowIDs.removed(from:)))
        }
        guard tuple.isWithinMachine else { return .otherMachine }
        guard let (user, accepted) = listener(of: tuple, connectedTo: descriptor) else { return .unknown }
        guard Self.isOneListener(user, accepted: accepted) else { return .unknown }
        // Checked last: a connection that was not accepted is reset with its listener.
        guard TCPState(of: descriptor) == .established else { return .unknown }
        return ConnectionListener(overflowIDs.removed(from: PeerCredentials(user: user)))
    }

    /// Who listens, and who has accepted the connection, if someone has. A kernel without sock_diag is asked through /proc.
    private func listener(
        of tuple: SocketTuple, connectedTo descriptor: Int32
    ) -> (listening: UInt32, accepted: UInt32?)? {
        if let diagnosis, diagnosis.networkNamespace == DiagnosisSocket.networkNamespace(of: descriptor),
            let user = diagnosis.listener(at: tuple.source)
        {
            return (user, diagnosis.owner(of: tuple))
        }
        guard DiagnosisSocket.isOwnNamespace(of: descriptor), let table = SocketTable.current(),
            let user = table.listener(at: tuple.source)
        else { return nil }
        return (user, table.owner(of: tuple))
    }

    /// Whether the listener is the one that accepted the connection, which it may not have done yet: that one may be
    /// closed by now, and another one open.
    ///
    /// A service manager listens as root, and the service that it passes the socket to accepts as its own user.
    static func isOneListener(_ user: UInt32, accepted: UInt32?) -> Bool {
        user == 0 || accepted == nil || accepted == user
    }

    private func owner(of tuple: SocketTuple, connectedTo descriptor: Int32) -> PeerCredentials? {
        guard let diagnosis, tuple.isLoopback,
            diagnosis.networkNamespace == DiagnosisSocket.networkNamespace(of: descriptor),
            let user = diagnosis.owner(of: tuple), Self.isCaller(user, from: tuple.source.port),
            // Checked after the owner: a caller that sent a request and closed could otherwise be mistaken for the next
            // user of its port. While our end is open, no other connection can have the same four-tuple.
            TCPState.areOpen.contains(TCPState(of: descriptor))
        else { return nil }
        return PeerCredentials(user: user)
    }

    /// Whether the owner of the calling socket is the one who calls.
    ///
    /// Service managers and web servers create listening sockets as root for processes of other users. Such a process can turn
    /// its socket into a calling one (`shutdown`, then `connect`): it stays root's, and keeps the port that it listened at.
    static func isCaller(_ user: UInt32, from port: UInt16) -> Bool { user != 0 || AutomaticPorts.include(port) }
}

/// The user that the kernel reports for a connection.
package struct PeerCredentials: Sendable, Equatable {
    package var user: UInt32
    /// The groups of the process, beginning with its primary group; empty when the kernel reports only the user.
    package var groups: [UInt32]

    package init(user: UInt32, groups: [UInt32] = []) {
        self.user = user
        self.groups = groups
    }
}

/// Who listens at the other end of a connection.
package enum ConnectionListener: Sendable, Equatable {
    case user(UInt32)
    /// On this machine, but the kernel does not report whose it is.
    case unknown
    case otherMachine

    fileprivate init(_ credentials: PeerCredentials?) { self = credentials.map { .user($0.user) } ?? .unknown }
}

/// Why the kernel cannot be queried: the attempted operation and the system's error.
struct CallerLookupError: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) { description = "\(what) (\(SystemError.last))" }
}
