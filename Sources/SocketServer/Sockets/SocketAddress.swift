package import Glibc

/// The address of one end of a socket.
package enum SocketAddress {
    case inet(Peer.Endpoint)
    case unix(path: String)

    static func local(of descriptor: Int32) -> SocketAddress? { read { getsockname(descriptor, $0, $1) } }

    /// The path of a Unix socket is empty if it has none.
    package static func remote(of descriptor: Int32) -> SocketAddress? { read { getpeername(descriptor, $0, $1) } }

    /// The address of a socket file, and its length.
    package static func unix(path: String) throws(ServerError) -> (sockaddr_un, socklen_t) {
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard !path.isEmpty, path.utf8.count < room, !path.utf8.contains(0) else {
            throw .unusable("The socket path \(path) is empty or longer than \(room - 1) bytes; choose a shorter one.")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return (address, socklen_t(MemoryLayout<sockaddr_un>.size))
    }

    private static func read(
        _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard ask(address, &length) == 0 else { return nil }
                switch Int32(address.pointee.sa_family) {
                case AF_INET, AF_INET6: return endpoint(address, length).map(SocketAddress.inet)
                case AF_UNIX: return .unix(path: unixPath(UnsafeRawPointer(storage), length))
                default: return nil
                }
            }
        }
    }

    private static func endpoint(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Peer.Endpoint? {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let result = getnameinfo(
            address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV
        )
        guard result == 0, let number = UInt16(text(port)) else { return nil }
        return Peer.Endpoint(address: text(host), port: number)
    }

    private static func unixPath(_ address: UnsafeRawPointer, _ length: socklen_t) -> String {
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let bytes = UnsafeRawBufferPointer(start: address + start, count: max(0, Int(length) - start))
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
