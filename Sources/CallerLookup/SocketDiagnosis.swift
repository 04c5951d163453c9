internal import CLinux
internal import Glibc

/// The query for the owner of a connection's source end, and the kernel's answer, as bytes (sock_diag(7)).
enum SocketDiagnosis {
    private static let headerSize = MemoryLayout<nlmsghdr>.size
    /// The loopback interface's number, the same in every network namespace.
    private static let loopback: UInt32 = 1
    /// A caller that has finished sending is still the caller.
    private static let callerStates = TCPState.areOpen.union([.finWait1, .finWait2])

    /// A query for exactly one socket, not a list.
    static func question(_ tuple: SocketTuple, sequence: UInt32) -> [UInt8] {
        let isIPv4 = tuple.source.isIPv4 && tuple.destination.isIPv4
        var request = inet_diag_req_v2()
        request.sdiag_family = UInt8(isIPv4 ? AF_INET : AF_INET6)
        request.sdiag_protocol = UInt8(IPPROTO_TCP)
        request.idiag_states = UInt32.max
        request.id.idiag_sport = tuple.source.port.bigEndian
        request.id.idiag_dport = tuple.destination.port.bigEndian
        let start = isIPv4 ? 12 : 0
        withUnsafeMutableBytes(of: &request.id.idiag_src) { $0.copyBytes(from: tuple.source.address[start...]) }
        withUnsafeMutableBytes(of: &request.id.idiag_dst) { $0.copyBytes(from: tuple.destination.address[start...]) }
        request.id.idiag_if = loopback
        request.id.idiag_cookie = (UInt32.max, UInt32.max)  // none
        let size = headerSize + MemoryLayout<inet_diag_req_v2>.size
        let header = nlmsghdr(
            nlmsg_len: UInt32(size), nlmsg_type: UInt16(SOCK_DIAG_BY_FAMILY), nlmsg_flags: UInt16(NLM_F_REQUEST),
            nlmsg_seq: sequence, nlmsg_pid: 0)
        return withUnsafeBytes(of: header, Array.init) + withUnsafeBytes(of: request, Array.init)
    }

    enum Answer: Equatable {
        case owner(UInt32)
        /// The socket does not exist, or no process holds it.
        case noOwner
        /// An answer to another query.
        case other
    }

    /// Parses one datagram; ignores anything that does not match the query.
    static func answer(_ datagram: UnsafeRawBufferPointer, to tuple: SocketTuple, sequence: UInt32) -> Answer {
        switch message(datagram, sequence: sequence) {
        case .failure(let answer): return answer
        case .success(let message):
            guard tuple == Self.tuple(message) else { return .noOwner }
            // A socket that its process has closed lingers without an inode, and the kernel would report root as its
            // owner.
            guard message.idiag_inode != 0, callerStates.contains(TCPState(rawValue: message.idiag_state)) else {
                return .noOwner
            }
            return .owner(message.idiag_uid)
        }
    }

    /// Parses one datagram about a listening socket, which may listen at all addresses and for both families.
    static func listener(_ datagram: UnsafeRawBufferPointer, at port: UInt16, sequence: UInt32) -> Answer {
        switch message(datagram, sequence: sequence) {
        case .failure(let answer): return answer
        case .success(let message):
            guard message.idiag_state == TCPState.listen.rawValue, UInt16(bigEndian: message.id.idiag_sport) == port,
                message.idiag_inode != 0
            else { return .noOwner }
            return .owner(message.idiag_uid)
        }
    }

    private enum Message {
        case success(inet_diag_msg)
        case failure(Answer)
    }

    private static func message(_ datagram: UnsafeRawBufferPointer, sequence: UInt32) -> Message {
        guard datagram.count >= headerSize else { return .failure(.other) }
        let header = datagram.loadUnaligned(as: nlmsghdr.self)
        guard header.nlmsg_seq == sequence, header.nlmsg_len <= datagram.count else { return .failure(.other) }
        guard Int32(header.nlmsg_type) == SOCK_DIAG_BY_FAMILY,
            Int(header.nlmsg_len) >= headerSize + MemoryLayout<inet_diag_msg>.size
        else { return .failure(.noOwner) }
        return .success(datagram.loadUnaligned(fromByteOffset: headerSize, as: inet_diag_msg.self))
    }

    /// The socket that the answer describes: when the requested one has gone, the kernel may return a listening socket.
    private static func tuple(_ message: inet_diag_msg) -> SocketTuple? {
        let length: Int
        switch Int32(message.idiag_family) {
        case AF_INET: length = 4
        case AF_INET6: length = 16
        default: return nil
        }
        let id = message.id
        return withUnsafeBytes(of: id.idiag_src) { source in
            withUnsafeBytes(of: id.idiag_dst) { destination in
                SocketTuple(
                    source: SocketTuple.End(address: source.prefix(length), port: UInt16(bigEndian: id.idiag_sport)),
                    destination: SocketTuple.End(
                        address: destination.prefix(length), port: UInt16(bigEndian: id.idiag_dport)))
            }
        }
    }
}

/// The state of a TCP connection, in the kernel's numbers (`include/net/tcp_states.h`).
struct TCPState: RawRepresentable, Hashable {
    var rawValue: UInt8

    static let established = TCPState(rawValue: 1)
    static let finWait1 = TCPState(rawValue: 4)
    static let finWait2 = TCPState(rawValue: 5)
    static let closeWait = TCPState(rawValue: 8)
    static let listen = TCPState(rawValue: 10)
    private static let closed = TCPState(rawValue: 7)

    /// The states in which the original two ends are still connected and data can arrive.
    static let areOpen: Set<TCPState> = [established, closeWait]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The state of one of our own sockets: the first byte of `TCP_INFO` (tcp(7)).
    init(of descriptor: Int32) {
        var state: UInt8 = 0
        var size = socklen_t(1)
        let result = getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &state, &size)
        self = result == 0 ? TCPState(rawValue: state) : .closed
    }
}
