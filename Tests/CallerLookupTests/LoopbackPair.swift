import Glibc

/// A TCP connection over loopback with access to both ends; closed on deinit.
final class LoopbackPair {
    struct Failure: Error { var step: String }

    private(set) var caller: Int32
    let accepted: Int32
    let port: UInt16
    private let listener: Int32

    /// Listens on `host` with a socket of its family, which also accepts IPv4 if `isDualStack`.
    init(listening host: String, calling target: String? = nil, isDualStack: Bool = false, connects: Bool = true) throws
    {
        let family = host.contains(":") ? AF_INET6 : AF_INET
        let listening = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        listener = listening
        var only: Int32 = isDualStack ? 0 : 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        if family == AF_INET6 { setsockopt(listening, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, size) }
        guard Self.withAddress(host, 0, { bind(listening, $0, $1) }) == 0, listen(listening, 8) == 0 else {
            throw Failure(step: "listening on \(host): \(errno)")
        }
        port = Self.port(of: listening)
        guard connects else {
            (caller, accepted) = (-1, -1)
            return
        }
        let target = target ?? host
        let calling = socket(target.contains(":") ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        caller = calling
        guard Self.withAddress(target, port, { connect(calling, $0, $1) }) == 0 else {
            throw Failure(step: "calling \(target): \(errno)")
        }
        accepted = accept(listener, nil, nil)
    }

    deinit {
        for descriptor in [caller, accepted, listener] where descriptor >= 0 { close(descriptor) }
    }

    /// Waits for a caller from another process or socket.
    func acceptAnother() -> Int32 { accept(listener, nil, nil) }

    func closeCaller() {
        close(caller)
        caller = -1
    }

    static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        // The port has the same offset in both families.
        return withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
    }

    static func withAddress(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let info = list?.pointee, let address = info.ai_addr
        else { return -1 }
        defer { freeaddrinfo(list) }
        return body(address, info.ai_addrlen)
    }
}
