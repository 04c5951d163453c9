internal import CLinux
internal import Glibc
internal import Synchronization

/// A netlink socket for queries about other sockets; one query at a time, answered immediately.
final class DiagnosisSocket: Sendable {
    /// `NETLINK_SOCK_DIAG` and `SO_NETNS_COOKIE`, which Glibc does not name.
    private static let netlinkSocketDiagnosis: Int32 = 4
    private static let namespaceCookie: Int32 = 71

    /// The network namespace that the queries are about; nil before Linux 5.14.
    let networkNamespace: UInt64?
    private let descriptor: Int32
    private let lastSequence = Mutex<UInt32>(0)

    init() throws(CallerLookupError) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_NETLINK, type, Self.netlinkSocketDiagnosis)
        guard descriptor >= 0 else { throw CallerLookupError("cannot open a netlink socket") }
        networkNamespace = Self.networkNamespace(of: descriptor)
        // Only the kernel can send to a connected netlink socket.
        var kernel = sockaddr_nl()
        kernel.nl_family = UInt16(AF_NETLINK)
        let connected = withUnsafeBytes(of: &kernel) { bytes in
            connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard connected == 0 else { throw CallerLookupError("cannot connect to the kernel over netlink") }
    }

    deinit { close(descriptor) }

    /// The owner of the socket at the source end; nil when there is none or the kernel does not report it.
    func owner(of tuple: SocketTuple) -> UInt32? {
        answer(to: tuple) { SocketDiagnosis.answer($0, to: tuple, sequence: $1) }
    }

    /// The owner of the socket that listens at this address, or at all addresses.
    func listener(at end: SocketTuple.End) -> UInt32? {
        // No connection has port 0, so the kernel finds the listening socket.
        answer(to: SocketTuple(source: end, destination: end.anyAddress)) {
            SocketDiagnosis.listener($0, at: end.port, sequence: $1)
        }
    }

    private func answer(
        to tuple: SocketTuple, _ read: (UnsafeRawBufferPointer, _ sequence: UInt32) -> SocketDiagnosis.Answer
    ) -> UInt32? {
        lastSequence.withLock { last in
            last &+= 1
            let question = SocketDiagnosis.question(tuple, sequence: last)
            guard send(descriptor, question, question.count, Int32(MSG_NOSIGNAL)) == question.count else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4096)
            // The kernel has answered when `send` returns. Leftover answers to earlier queries are skipped.
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count < 0, errno == EINTR || errno == ENOBUFS { continue }
                guard count > 0 else { return nil }
                let answer = buffer.withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[..<count]), last) }
                switch answer {
                case .owner(let user): return user
                case .noOwner: return nil
                case .other: continue
                }
            }
        }
    }

    /// Whether a socket is in the network namespace of this process.
    static func isOwnNamespace(of descriptor: Int32) -> Bool {
        let own = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard own >= 0 else { return false }
        defer { close(own) }
        return networkNamespace(of: own) == networkNamespace(of: descriptor)
    }

    static func networkNamespace(of descriptor: Int32) -> UInt64? {
        var cookie: UInt64 = 0
        var size = socklen_t(MemoryLayout<UInt64>.size)
        return getsockopt(descriptor, SOL_SOCKET, namespaceCookie, &cookie, &size) == 0 ? cookie : nil
    }
}
