internal import CCurl
internal import Glibc

/// The sockets of one transport's connections, from when libcurl opens one until it closes it.
///
/// Lives on the thread that runs libcurl, for as long as its multi handle.
final class CurlSockets {
    private let isLinkDown: @Sendable (UnsafeRawPointer) -> Bool
    private let ownAddresses: [(address: String, port: UInt16)]
    private let refusal: (@Sendable (Int32) -> String?)?
    private var open: Set<curl_socket_t> = []

    /// The longest time to wait for a server on this machine that does not accept connections.
    private static let connectLimit = timeval(tv_sec: 10, tv_usec: 0)

    init(_ options: CurlOptions) {
        isLinkDown = options.isLinkDown
        ownAddresses = options.ownAddresses
        refusal = options.refusal
    }

    /// The new socket; when there is none, why.
    enum Opened {
        case socket(curl_socket_t)
        case refused(String)
    }

    /// Refuses when the link to that address is down, so nothing sent there would leave this machine, and when the
    /// server is not the right one.
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
        if let refusal, let reason = Self.connected(made, to: end, address.pointee.addrlen) ?? refusal(made) {
            Glibc.close(made)
            return .refused(reason)
        }
        open.insert(made)
        return .socket(made)
    }

    /// Whether a socket is connected when `open` returns it.
    var areConnected: Bool { refusal != nil }

    /// Nil when connected, otherwise why not.
    private static func connected(_ socket: Int32, to end: UnsafeRawPointer, _ length: UInt32) -> String? {
        var limit = connectLimit
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = connect(socket, end.assumingMemoryBound(to: sockaddr.self), socklen_t(length))
        return result == 0 ? nil : String(cString: strerror(errno))
    }

    /// Stops all packets of connections from other addresses, even those that close them.
    ///
    /// Otherwise the kernel retransmits and keeps asking for the peer's hardware address while nothing can answer. Once
    /// the link is back, other connections would have to wait until it asks the next time.
    func silence(except addresses: Set<String>) {
        for socket in open {
            guard let address = Self.localAddress(of: socket), !addresses.contains(address) else { continue }
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
        open.remove(socket)
        return Glibc.close(socket)
    }

    private static func localAddress(of socket: curl_socket_t) -> String? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            let address = UnsafeMutableRawPointer(storage).assumingMemoryBound(to: sockaddr.self)
            return getsockname(socket, address, &size) == 0 ? LocalAddresses.text(of: address) : nil
        }
    }
}
