internal import CCurl
internal import Glibc

/// The sockets of one transport's connections, from when libcurl opens one until it closes it.
///
/// Lives on the thread that runs libcurl, for as long as its multi handle.
final class CurlSockets {
    private let isLinkDown: @Sendable (UnsafeRawPointer) -> Bool
    private let ownAddresses: [(address: String, port: UInt16)]
    private let refusal: (@Sendable (Int32) -> String?)?
    private let open: OpenSockets
    /// The open ones whose server was checked.
    private var checked: Set<curl_socket_t> = []
    /// The last exchange of each connection over TCP.
    private var users: [curl_socket_t: UInt64] = [:]

    init(_ options: CurlOptions, _ open: OpenSockets) {
        self.open = open
        isLinkDown = options.isLinkDown
        ownAddresses = options.ownAddresses
        refusal = options.refusal
    }

    /// The new socket; when there is none, why.
    enum Opened {
        case socket(curl_socket_t)
        case refused(String)
    }

    /// Refuses this program's own API, and an address whose link is down: nothing sent there would leave this machine.
    func open(to address: UnsafeMutablePointer<curl_sockaddr>) -> Opened {
        guard let offset = MemoryLayout.offset(of: \curl_sockaddr.addr) else { return .socket(CURL_SOCKET_BAD) }
        let end = UnsafeRawPointer(address) + offset
        if LocalAddresses.leads(end, to: ownAddresses) {
            return .refused("it is this daemon's own API; correct the address of the upstream")
        }
        if isLinkDown(end) { return .refused("the link to it is down; check this machine's network") }
        let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let made = socket(address.pointee.family, type, address.pointee.protocol)
        guard made >= 0 else { return .socket(made) }
        open.insert(made)
        checked.remove(made)
        return .socket(made)
    }

    /// Why nothing may be sent to the servers that the open sockets are connected to; nil when it may. Checks each once.
    func refusalOfServers() -> String? {
        guard let refusal else { return nil }
        for socket in open.all.subtracting(checked) where Self.isConnected(socket) {
            if let reason = refusal(socket) { return reason }
            checked.insert(socket)
        }
        return nil
    }

    private static func isConnected(_ socket: curl_socket_t) -> Bool { end(of: socket, getpeername) != nil }

    /// One end of a connection, as libcurl names it.
    struct End: Equatable {
        var address: String
        var port: Int
    }

    /// The open socket of the connection between these ends, which this exchange uses from now on; nil if there is none, as
    /// for a Unix socket.
    func use(from local: End, to remote: End, by exchange: UInt64) -> curl_socket_t? {
        let socket = open.all.first {
            Self.end(of: $0, getsockname) == local && Self.end(of: $0, getpeername) == remote
        }
        if let socket { users[socket] = exchange }
        return socket
    }

    /// Ends each connection on which something came after the answer of its last exchange.
    ///
    /// libcurl would send another request on it. That is lost if the server has only said by TLS that it leaves, and gets
    /// the wrong answer if the server has answered twice.
    func breakUnread(isOver: (_ exchange: UInt64) -> Bool) {
        for (socket, exchange) in users where isOver(exchange) {
            var piece = [UInt8](repeating: 0, count: 4096)
            guard recv(socket, &piece, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0 else { continue }
            shutdown(socket, Int32(SHUT_RDWR))
            // To libcurl, it is dead only once there is nothing to read; after the line above, no more comes.
            while recv(socket, &piece, piece.count, Int32(MSG_DONTWAIT)) > 0 {}
        }
    }

    /// Stops all packets of connections from other addresses, even those that close them.
    ///
    /// Otherwise the kernel retransmits and keeps asking for the peer's hardware address while nothing can answer. Once
    /// the link is back, other connections would have to wait until it asks the next time.
    func silence(except addresses: Set<String>) {
        for socket in open.all {
            guard let end = Self.end(of: socket, getsockname), !end.address.isEmpty, !addresses.contains(end.address)
            else { continue }
            // Any process may do this since Linux 5.7. On older kernels, recovery takes a second longer.
            setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2)
            var rule = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &rule, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// Makes libcurl close its sockets here.
    func install(in easy: borrowing CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_CLOSESOCKETDATA, UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()))
        try easy.setSocketCloser { this, socket in
            guard let this else { return -1 }
            return Unmanaged<CurlSockets>.fromOpaque(this).takeUnretainedValue().close(socket)
        }
    }

    private func close(_ socket: curl_socket_t) -> Int32 {
        checked.remove(socket)
        users[socket] = nil
        return open.close(socket)
    }

    private typealias Question = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

    /// What `getsockname` or `getpeername` answers: nil if there is none, and without an address for a Unix socket.
    private static func end(of socket: curl_socket_t, _ ask: Question) -> End? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            let address = UnsafeMutableRawPointer(storage).assumingMemoryBound(to: sockaddr.self)
            guard ask(socket, address, &size) == 0 else { return nil }
            return End(
                address: LocalAddresses.text(of: address) ?? "",
                port: LocalAddresses.port(of: address).map { Int($0) } ?? 0)
        }
    }
}
