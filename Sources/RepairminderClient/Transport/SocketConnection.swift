import Dispatch
import Foundation
import Synchronization

/// A socket whose blocking calls run on a queue of its own, never on the threads of Swift's tasks.
///
/// Closes the socket when it is released.
final class SocketConnection: Sendable {
    private let queue = DispatchQueue(label: "RepairminderClient.connection")
    private let state = Mutex(State())

    private struct State {
        var descriptor: Int32?
        var isClosed = false
    }

    deinit { close() }

    /// Runs `work` with the socket. When the task is cancelled, the socket's calls end and this throws `.cancelled`.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (SocketHandle) throws(ClientError) -> Value
    ) async throws(ClientError) -> Value {
        let result: Result<Value, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.result(of: work)) }
            }
        } onCancel: {
            self.cancel()
        }
        if Task.isCancelled { throw .cancelled }
        return try result.get()
    }

    private func result<Value>(
        of work: (SocketHandle) throws(ClientError) -> Value
    ) -> Result<Value, ClientError> {
        Result { () throws(ClientError) in
            try work(SocketHandle(descriptor: { self.state.withLock { $0.descriptor } }, open: open))
        }
    }

    /// Makes the socket that the handle asks for.
    private func open(_ family: Int32) throws(ClientError) -> Int32 {
        let descriptor = Sockets.make(family)
        let isRefused = state.withLock { state in
            if state.isClosed { return true }
            if let old = state.descriptor { Sockets.close(old) }
            state.descriptor = descriptor >= 0 ? descriptor : nil
            return false
        }
        guard !isRefused else {
            if descriptor >= 0 { Sockets.close(descriptor) }
            throw .cancelled
        }
        guard descriptor >= 0 else { throw .unreachable("no socket can be opened: \(Sockets.reason)") }
        return descriptor
    }

    /// Ends what is under way; the queue closes the socket later.
    private func cancel() {
        state.withLock { state in
            state.isClosed = true
            if let descriptor = state.descriptor { Sockets.shutDown(descriptor) }
        }
    }

    /// Closes the socket; no work may be under way.
    func close() {
        state.withLock { state in
            state.isClosed = true
            if let descriptor = state.descriptor { Sockets.close(descriptor) }
            state.descriptor = nil
        }
    }
}

/// What the work of a connection may do with its socket.
struct SocketHandle {
    /// The open socket; nil before `open` and after the connection was closed.
    let descriptor: () -> Int32?
    /// Opens a socket of a family, in place of the one before.
    let open: (Int32) throws(ClientError) -> Int32
}
