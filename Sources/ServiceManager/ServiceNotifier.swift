internal import Glibc

/// Sends state changes to the service manager, one datagram each (sd_notify(3)).
package struct ServiceNotifier: Sendable {
    private let socketName: String?

    /// Reads `NOTIFY_SOCKET`: a path, or an abstract name after an `@`. Without it nothing is sent.
    package init(environment: [String: String]) {
        socketName = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    }

    /// Sends all messages together, in order. False when there is a service manager and sending failed.
    @discardableResult
    package func send(_ messages: ServiceMessage...) -> Bool {
        guard let socketName else { return true }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // A manager that does not read must not block the service forever.
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let (name, length) = Self.address(of: socketName) else { return false }
        var address = name
        let bytes = Array(messages.map(\.text).joined(separator: "\n").utf8)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        return sent == bytes.count
    }

    /// Nil for an invalid socket name (unix(7)).
    private static func address(of name: String) -> (sockaddr_un, socklen_t)? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = name.hasPrefix("@")
        let bytes = isAbstract ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
        // A path ends with a zero byte, which is already there; the length marks the end of an abstract name.
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        return (address, socklen_t(start + bytes.count + (isAbstract ? 0 : 1)))
    }
}
