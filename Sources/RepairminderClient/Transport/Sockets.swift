import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The calls of the C library that a connection needs. All of them block.
enum Sockets {
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif
    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    /// A new socket; negative if there is none.
    static func make(_ family: Int32) -> Int32 { socket(family, stream, 0) }

    /// Why the last call failed.
    static var reason: String { String(cString: strerror(errno)) }

    static func close(_ descriptor: Int32) {
        #if canImport(Glibc)
            _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
            _ = Musl.close(descriptor)
        #else
            _ = Darwin.close(descriptor)
        #endif
    }

    /// Ends reads and writes that wait; the descriptor stays taken.
    static func shutDown(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    // MARK: Connecting

    /// Opens a socket and connects it. `patience` is how long each call may wait from then on.
    static func connect(_ handle: SocketHandle, to address: DaemonAddress, patience: Duration) throws(ClientError) {
        var reason = "it has no address"
        for place in try places(of: address) {
            let descriptor = try handle.open(place.family)
            limit(descriptor, patience)
            if place.connect(descriptor) { return }
            reason = Self.reason
        }
        throw .unreachable("the daemon cannot be reached at \(address) (\(reason)); is it running?")
    }

    /// An address as the C library wants it.
    private struct Place {
        var family: Int32
        var bytes: [UInt8]

        func connect(_ descriptor: Int32) -> Bool {
            bytes.withUnsafeBytes { raw in
                guard let start = raw.bindMemory(to: sockaddr.self).baseAddress else { return false }
                #if canImport(Glibc)
                    return Glibc.connect(descriptor, start, socklen_t(raw.count)) == 0
                #elseif canImport(Musl)
                    return Musl.connect(descriptor, start, socklen_t(raw.count)) == 0
                #else
                    return Darwin.connect(descriptor, start, socklen_t(raw.count)) == 0
                #endif
            }
        }
    }

    private static func places(of address: DaemonAddress) throws(ClientError) -> [Place] {
        switch address {
        case .unix(let path): [try place(of: path)]
        case .tcp(let host, let port): try places(of: host, port)
        }
    }

    private static func place(of path: String) throws(ClientError) -> Place {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count, !bytes.contains(0) else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw .unreachable("\(path) is too long for the path of a socket") }
        return Place(family: AF_UNIX, bytes: withUnsafeBytes(of: &address) { Array($0) })
    }

    private static func places(of host: String, _ port: UInt16) throws(ClientError) -> [Place] {
        var hints = addrinfo()
        hints.ai_socktype = stream & 0xF
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard status == 0 else {
            throw .unreachable("\(host) has no address: \(String(cString: gai_strerror(status)))")
        }
        return sequence(first: found) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
            guard let entry, let address = entry.pointee.ai_addr else { return nil }
            let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen))
            return Place(family: entry.pointee.ai_family, bytes: Array(bytes))
        }
    }

    private static func limit(_ descriptor: Int32, _ patience: Duration) {
        var time = timeval()
        time.tv_sec = .init(max(1, patience.components.seconds))
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    }

    // MARK: Bytes

    /// Whether all bytes were taken.
    static func send(_ bytes: [UInt8], over handle: SocketHandle) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let descriptor = handle.descriptor() else { return false }
            let count = rest.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, noSignal) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest.removeFirst(count)
        }
        return true
    }

    /// The next bytes; empty at the end.
    static func receive(_ handle: SocketHandle) throws(ClientError) -> [UInt8] {
        while true {
            guard let descriptor = handle.descriptor() else { return [] }
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                let received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                failure = received < 0 ? errno : 0
                count = max(0, received)
            }
            switch failure {
            case 0: return bytes
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: throw .interrupted("the daemon has been silent for too long")
            default: throw .interrupted("the connection broke: \(String(cString: strerror(failure)))")
            }
        }
    }

    private static func systemSend(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int
    {
        #if canImport(Glibc)
            Glibc.send(descriptor, start, count, flags)
        #elseif canImport(Musl)
            Musl.send(descriptor, start, count, flags)
        #else
            Darwin.send(descriptor, start, count, flags)
        #endif
    }
}
