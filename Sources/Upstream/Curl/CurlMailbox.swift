internal import CCurl
internal import Synchronization

/// The commands from callers to the thread that runs libcurl, and its sockets; the only state that both share.
final class CurlMailbox: Sendable {
    typealias Outcome = Result<HTTPResponse, TransportError>

    enum Command: Sendable {
        case start(UInt64, HTTPRequest, CheckedContinuation<Outcome, Never>)
        case cancel(UInt64)
        case networkChanged
        /// This many bytes of the memory for large answers are free again.
        case giveBack(Int)
    }

    private struct State {
        var commands: [Command] = []
        /// Since when the thread has not asked for commands; nil while it sleeps.
        var busySince: ContinuousClock.Instant?
        var isClosed = false
        /// The address of the multi handle to wake, while there is one; pointers themselves are not `Sendable`.
        var sleeper: UInt?

        func wake() {
            if let sleeper { curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: sleeper)) }
        }
    }

    let sockets = OpenSockets()
    private let state = Mutex(State())

    /// Returns false, and keeps nothing, once closed.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            // An earlier command has woken the thread already.
            if state.commands.count == 1 { state.wake() }
            return true
        }
    }

    /// Refuses every later post; earlier commands can still be taken.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.wake()
        }
    }

    /// All posted commands in order, and whether they are the last.
    ///
    /// Asks both at once: one wake-up may stand for a command and the end.
    func take() -> (commands: [Command], isClosed: Bool) {
        state.withLock { state in
            let commands = state.commands
            state.commands = []
            state.busySince = .now
            return (commands, state.isClosed)
        }
    }

    /// Call it before the thread sleeps.
    func rest() {
        state.withLock { $0.busySince = nil }
    }

    /// Whether the thread has been busy for so long without asking for commands.
    func isStuck(for time: Duration) -> Bool {
        state.withLock { $0.busySince.map { ContinuousClock.now - $0 >= time } ?? false }
    }

    /// Sets the multi handle whose poll a post interrupts; set it to nil before that handle is freed.
    func setSleeper(_ address: UInt?) {
        state.withLock { $0.sleeper = address }
    }
}
