internal import CCurl
internal import Glibc

/// The sockets of one transport's connections, from when libcurl opens one until it closes it.
///
/// Lives on the thread that runs libcurl, for as long as its multi handle.
final class CurlSockets {
    private let isLinkDown: @Sendable (UnsafeRawPointer) -> Bool
    private var open: Set<curl_socket_t> = []

    init(isLinkDown: @escaping @Sendable (UnsafeRawPointer) -> Bool) {
        self.isLinkDown = isLinkDown
    }

    /// Nil when the link to that address is down, so nothing sent there would leave this machine.
    func open(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t? {
        if let end = MemoryLayout.offset(of: \curl_sockaddr.addr), isLinkDown(UnsafeRawPointer(address) + end) {
            return nil
        }
        let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let made = socket(address.pointee.family, type, address.pointee.protocol)
        if made >= 0 { open.insert(made) }
        return made
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
