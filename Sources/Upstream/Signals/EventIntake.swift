internal import Synchronization

/// Reads an event stream as it arrives, up to a limit per second: the thread that reads it serves all requests.
final class EventIntake: Sendable {
    /// In a second. A pull brings what more events name with less work.
    static let mostEvents = 1000
    /// In a second; one event alone may have a megabyte.
    static let mostBytes = 4 << 20

    private struct State {
        var parser = EventStreamParser()
        /// When the present second began.
        var began = Duration.zero
        var events = 0
        var bytes = 0

        var isFlooded: Bool { events > mostEvents || bytes > mostBytes }
    }

    private let state = Mutex(State())
    private let isStopped = Atomic(false)
    private let elapsed: @Sendable () -> Duration

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    /// Whether the stream was given up because too much came within a second.
    var isFlooded: Bool { state.withLock(\.isFlooded) }

    /// Takes nothing more.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Calls `event` with each event that the bytes complete, and `retry` with a new time to wait before reconnecting.
    /// Returns false once nothing more is taken.
    func take(
        _ bytes: UnsafeRawBufferPointer, retry: (Duration) -> Void, event: (EventStreamParser.Event) -> Void
    ) -> Bool {
        state.withLock { state in
            guard !isStopped.load(ordering: .relaxed), !state.isFlooded else { return false }
            let now = elapsed()
            if now - state.began >= .seconds(1) { (state.began, state.events, state.bytes) = (now, 0, 0) }
            state.bytes += bytes.count
            guard !state.isFlooded else { return false }
            let known = state.parser.retry
            var events = 0
            state.parser.take(bytes) { one in
                events += 1
                event(one)
            }
            if let new = state.parser.retry, new != known { retry(new) }
            state.events += events
            return !state.isFlooded
        }
    }
}
