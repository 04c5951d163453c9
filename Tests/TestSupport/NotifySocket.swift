import Foundation
import Glibc

/// The service manager's side of `NOTIFY_SOCKET`: a datagram socket at a temporary path or under an abstract name.
package final class NotifySocket: Sendable {
    /// What `NOTIFY_SOCKET` is set to.
    package let name: String
    private let descriptor: Int32

    package struct Failure: Error { package var call: String }

    package init(abstract isAbstract: Bool = false) throws {
        let path = FileManager.default.temporaryDirectory.path + "/notify-\(UUID().uuidString.prefix(8))"
        name = isAbstract ? "@" + path : path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = (isAbstract ? [0] : []) + Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw Failure(call: "bind \(path): \(errno)") }
    }

    deinit {
        close(descriptor)
        unlink(name)
    }

    /// The next datagram. Without `waits` nil when none has arrived, with it nil after `stop()`.
    package func next(waits: Bool = false) -> String? {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &buffer, buffer.count, waits ? 0 : Int32(MSG_DONTWAIT))
        return count < 0 || waits && count == 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Ends a `next(waits: true)` that another thread is in.
    package func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
