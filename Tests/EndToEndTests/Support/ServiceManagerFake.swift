import Foundation
import TestSupport

/// A service manager that records what the daemon sends to `NOTIFY_SOCKET`.
actor ServiceManagerFake {
    private let socket: NotifySocket
    private var messages: AsyncStream<String>.AsyncIterator
    /// Every message read so far.
    private(set) var received: [String] = []

    init() throws {
        let socket = try NotifySocket()
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        self.socket = socket
        messages = stream.makeAsyncIterator()
        Thread.detachNewThread {
            while let message = socket.next(waits: true) { continuation.yield(message) }
            continuation.finish()
        }
    }

    /// What `NOTIFY_SOCKET` is set to.
    nonisolated var path: String { socket.name }

    /// Returns the next message that contains `text`.
    func message(containing text: String) async throws -> String {
        var iterator = messages
        defer { messages = iterator }
        while let message = await iterator.next(isolation: self) {
            received.append(message)
            if message.contains(text) { return message }
        }
        throw Program.Failure(message: "no message with \(text):\n\(received.joined(separator: "\n"))")
    }

    /// The same among the messages from number `start` on, those already received included: the status and `READY=1` come
    /// in either order.
    func message(containing text: String, from start: Int) async throws -> String {
        if let message = received.dropFirst(start).first(where: { $0.contains(text) }) { return message }
        return try await message(containing: text)
    }

    func close() { socket.stop() }
}
