import Glibc

/// A port of 127.0.0.1 that the system gives to no other program while this exists. A server can listen there by its number; while
/// none does, connections are refused.
final class ReservedPort: Sendable {
    let number: UInt16
    /// Bound, and never listening.
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Servers set it too, and sockets that all have it can bind the same port.
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        self.descriptor = descriptor
        number = UInt16(bigEndian: name.sin_port)
        guard isBound else { throw Program.Failure(message: "no port can be reserved: \(errno)") }
    }

    deinit { close(descriptor) }
}
