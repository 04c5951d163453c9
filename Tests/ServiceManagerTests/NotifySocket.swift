import Foundation
import Glibc

/// The service manager's side: a datagram socket at a path in a temporary directory or with an abstract name.
final class NotifySocket: Sendable {
    /// The value of `NOTIFY_SOCKET`.
    let name: String
    private let descriptor: Int32

    struct Failure: Error {}

    init(abstract isAbstract: Bool = false) throws {
        let path = FileManager.default.temporaryDirectory.path + "/notify-\(UUID().uuidString.prefix(8))"
        name = isAbstract ? "@" + path : path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = (isAbstract ? [0] : []) + Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw Failure() }
    }

    deinit {
        close(descriptor)
        unlink(name)
    }

    /// The next received datagram; nil when there is none.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }
}
