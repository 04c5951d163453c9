internal import CLinux
internal import Glibc

/// Asks the kernel who is at the other end of a connection on this machine.
///
/// On a Unix socket that is the process that connected; on loopback TCP the owner of the caller's socket (sock_diag(7)).
/// Whatever is in doubt is nobody: a caller that is not known must prove itself in another way.
package struct CallerLookup: Sendable {
    private let diagnosis: DiagnosisSocket?
    private let overflowIDs: OverflowIDs
    /// Why callers over TCP cannot be known at all; nil when they can.
    package let problem: String?

    package init() {
        overflowIDs = OverflowIDs()
        do throws(CallerLookupError) {
            diagnosis = try DiagnosisSocket()
            problem = nil
        } catch {
            diagnosis = nil
            problem = error.description
        }
    }

    /// The caller of an accepted, connected socket; nil when it is not known. Asks each time: keep the answer.
    package func credentials(ofPeerOf descriptor: Int32) -> PeerCredentials? {
        let found = SocketTuple(ofPeerOf: descriptor).map { owner(of: $0, connectedTo: descriptor) }
        return (found ?? UnixCredentials.ofPeer(of: descriptor)).flatMap(overflowIDs.removed(from:))
    }

    private func owner(of tuple: SocketTuple, connectedTo descriptor: Int32) -> PeerCredentials? {
        guard let diagnosis, tuple.isLoopback,
            diagnosis.networkNamespace == DiagnosisSocket.networkNamespace(of: descriptor),
            let user = diagnosis.owner(of: tuple),
            // Asked after the owner: a caller that left a request behind and closed could otherwise be taken for the next
            // one to be given its port. While our end lives, the four-tuple is nobody else's.
            TCPState.areOpen.contains(TCPState(of: descriptor))
        else { return nil }
        return PeerCredentials(user: user)
    }
}

/// Whom the kernel names.
package struct PeerCredentials: Sendable, Equatable {
    package var user: UInt32
    /// The groups of the process, the first one its own; empty where the kernel tells only the user.
    package var groups: [UInt32]

    package init(user: UInt32, groups: [UInt32] = []) {
        self.user = user
        self.groups = groups
    }
}

/// Why nothing can be asked; the message says what was tried and what the kernel answered.
struct CallerLookupError: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) {
        description = "\(what) (\(String(cString: strerror(errno))))"
    }
}
