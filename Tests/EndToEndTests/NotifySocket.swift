import Foundation
import Glibc

/// The service manager's side of `NOTIFY_SOCKET`: a datagram socket in a temporary folder, and what comes there.
actor NotifySocket {
    nonisolated let path: String
    private let descriptor: Int32
    private var messages: AsyncStream<String>.AsyncIterator
    /// Everything that has come so far and was looked at.
    private(set) var heard: [String] = []

    init() throws {
        let path = FileManager.default.temporaryDirectory.path + "/notify-\(UUID().uuidString.prefix(8))"
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Program.Failure(message: "no socket at \(path)") }
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        self.path = path
        self.descriptor = descriptor
        messages = stream.makeAsyncIterator()
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 8192)
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                continuation.yield(String(decoding: buffer[..<count], as: UTF8.self))
            }
            continuation.finish()
            Glibc.close(descriptor)
        }
    }

    /// Returns the first message that holds `text`, from here on.
    func message(containing text: String) async throws -> String {
        var iterator = messages
        defer { messages = iterator }
        while let message = await iterator.next(isolation: self) {
            heard.append(message)
            if message.contains(text) { return message }
        }
        throw Program.Failure(message: "no message with \(text):\n\(heard.joined(separator: "\n"))")
    }

    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        unlink(path)
    }
}
