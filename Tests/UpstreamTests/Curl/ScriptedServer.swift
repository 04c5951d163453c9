import Foundation
import Synchronization

/// A server without HTTP: each accepted connection runs its own list of steps and is closed.
///
/// A connection after the last list is closed at once. Nothing waits for a time: a stall lasts until the
/// client disconnects or the test opens the gate.
final class ScriptedServer: Sendable {
    enum Step: Sendable {
        /// Reads one request, head and Content-Length body, into `requests`.
        case receive
        /// Reads what comes at once, whatever it is, into `requests`.
        case receivePiece
        case send([UInt8])
        /// Sends this byte repeatedly until the client disconnects.
        case trickle(UInt8)
        /// Sends these bytes repeatedly, as fast as they are read, until the client disconnects.
        case flood([UInt8])
        case awaitClientLeaving
        /// Opens the gate when the client ends the connection by RST.
        case awaitClientReset(Gate)
        case pass(Gate)
        /// Opens a gate that the test waits for.
        case open(Gate)
        /// Sends FIN now, so a gate opened next shows that the client has it.
        case finish
        /// Ends the connection with RST instead of FIN.
        case reset

        static func send(_ text: String) -> Step { .send(Array(text.utf8)) }
    }

    /// A gate for threads and tasks, opened once.
    final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)

        func open() { semaphore.signal() }

        func pass() {
            semaphore.wait()
            semaphore.signal()
        }
    }

    struct Failure: Error { let call: String, code: Int32 }

    let port: UInt16
    /// The bytes of every request, in the order of completion.
    let requests: AsyncStream<String>
    private let listener: Int32
    private let accepted = Atomic<Int>(0)
    private let received: AsyncStream<String>.Continuation

    var acceptedConnections: Int { accepted.load(ordering: .relaxed) }
    var url: String { "http://127.0.0.1:\(port)" }

    convenience init(_ connections: [Step]..., unixSocketPath: String? = nil) throws {
        try self.init(connections: connections, unixSocketPath: unixSocketPath)
    }

    init(connections: [[Step]], unixSocketPath: String? = nil) throws {
        (requests, received) = AsyncStream.makeStream()
        listener =
            if let unixSocketPath { try Sockets.listen(path: unixSocketPath) } else { try Sockets.listenOnLoopback() }
        port = try unixSocketPath == nil ? Sockets.port(of: listener) : 0
        let (listener, received) = (listener, received)
        Thread.detachNewThread { [weak self] in
            var scripts = connections[...]
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                self?.accepted.add(1, ordering: .relaxed)
                let script = scripts.popFirst() ?? []
                Thread.detachNewThread { ScriptedConnection(connection, received).play(script) }
            }
            close(listener)
        }
    }

    deinit {
        // Wakes accept, which shares the descriptor until it is closed there.
        shutdown(listener, Int32(SHUT_RDWR))
        received.finish()
    }

    func nextRequest() async -> String? {
        var iterator = requests.makeAsyncIterator()
        return await iterator.next()
    }
}
