import Foundation

/// The socket calls that the tests need, throwing errors.
enum Sockets {
    static func listenOnLoopback() throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(port: 0)
        try withUnsafePointer(to: &address) { try bind(socket, $0) }
        try check("listen", Glibc.listen(socket, 128))
        return socket
    }

    static func listen(path: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        try withUnsafePointer(to: &address) { try bind(socket, $0) }
        try check("listen", Glibc.listen(socket, 128))
        return socket
    }

    static func port(of socket: Int32) throws -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try check("getsockname", getsockname(socket, $0, &size))
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// A loopback port without a listener: its socket is bound but never listens. Free again when the body ends.
    static func withRefusingPort<T>(_ body: (UInt16) async throws -> T) async throws -> T {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = loopback(port: 0)
        try withUnsafePointer(to: &address) { try bind(socket, $0) }
        return try await body(port(of: socket))
    }

    static func resetOnClose(_ socket: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func bind<Address>(_ socket: Int32, _ address: UnsafePointer<Address>) throws {
        try address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            try check("bind", Glibc.bind(socket, $0, socklen_t(MemoryLayout<Address>.size)))
        }
    }

    private static func check(_ call: String, _ result: Int32) throws {
        guard result == 0 else { throw ScriptedServer.Failure(call: call, code: errno) }
    }
}
