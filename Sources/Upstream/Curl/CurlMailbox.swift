internal import CCurl
internal import Synchronization

/// What callers ask of the thread that runs libcurl; the only state both share.
final class CurlMailbox: Sendable {
    typealias Outcome = Result<HTTPResponse, TransportError>

    enum Command: Sendable {
        case start(UInt64, HTTPRequest, CheckedContinuation<Outcome, Never>)
        case cancel(UInt64)
        case networkChanged
    }

    private struct State {
        var commands: [Command] = []
        var isClosed = false
        /// The address of the multi handle to wake, while there is one: pointers themselves cannot cross threads.
        var sleeper: UInt?

        func wake() {
            if let sleeper { curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: sleeper)) }
        }
    }

    private let state = Mutex(State())

    /// Returns false, and keeps nothing, once closed.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            // Those already waiting have woken the thread.
            if state.commands.count == 1 { state.wake() }
            return true
        }
    }

    /// From now on every post is refused; what was posted before can still be taken.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.wake()
        }
    }

    /// All that was posted, in order; nil once closed and empty.
    func take() -> [Command]? {
        state.withLock { state in
            let commands = state.commands
            state.commands = []
            return state.isClosed && commands.isEmpty ? nil : commands
        }
    }

    /// Names the multi handle whose poll every post ends; nil before that handle is freed.
    func setSleeper(_ address: UInt?) {
        state.withLock { $0.sleeper = address }
    }
}
