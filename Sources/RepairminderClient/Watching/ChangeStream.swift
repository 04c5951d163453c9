/// What comes out of a stream of changes.
public enum ChangeEvent: Sendable, Hashable {
    /// A change.
    case change(Change)
    /// The log no longer has what comes next, or the cache is another one: read the records again.
    ///
    /// Changes from now on follow, so nothing that happens while you read is missed. Store this position.
    case resync(ChangePosition)

    /// The change; nil for a resync.
    public var change: Change? { if case .change(let change) = self { change } else { nil } }
}

/// The changes as they happen, without end and without gaps.
///
/// When the connection is cut or the daemon restarts, the stream connects again and continues after the last change that
/// it gave. It throws if the daemon does not answer at first, and when it refuses the call. Cancel its task to end it.
public struct ChangeStream: AsyncSequence, Sendable {
    /// A change, or the news that changes are missing.
    public typealias Element = ChangeEvent
    /// Why the stream ended.
    public typealias Failure = ClientError

    let changes: Changes
    let start: ChangePosition?
    let filter: ChangeFilter

    /// Begins at the position of the stream.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(changes: changes, filter: filter, position: start)
    }

    /// Reads change by change.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let changes: Changes
        let filter: ChangeFilter
        /// Where the log continues; nil before the daemon was asked.
        public private(set) var position: ChangePosition?
        private var events: EventReader?
        private var hasBegun = false
        /// Whether the log no longer has what comes next.
        private var isGone = false
        private var failures = 0

        /// The daemon asks readers to wait so long before they connect again.
        private static let longestPause = Duration.seconds(3)

        init(changes: Changes, filter: ChangeFilter, position: ChangePosition?) {
            self.changes = changes
            self.filter = filter
            self.position = position
        }

        /// The next change; never nil.
        public mutating func next(isolation: isolated (any Actor)?) async throws(ClientError) -> ChangeEvent? {
            while true {
                do throws(ClientError) {
                    if isGone { return .resync(try await resumeAtEnd()) }
                    if let change = try await nextChange() { return .change(change) }
                    // The daemon has ended the stream, as it does when it stops.
                    events = nil
                    try await pause()
                } catch {
                    events = nil
                    if error.code == .gone {
                        isGone = true
                    } else {
                        guard hasBegun, error.isPassing else { throw error }
                        try await pause()
                    }
                }
            }
        }

        /// Nil when the stream has ended.
        private mutating func nextChange() async throws(ClientError) -> Change? {
            if position == nil { position = try await changes.position() }
            guard let position else { return nil }
            var reader = if let events { events } else { try await changes.events(after: position, filter) }
            hasBegun = true
            while let event = try await reader.next() {
                failures = 0
                let reached = event.id.flatMap(ChangePosition.init)
                if let reached { self.position = reached }
                guard !event.data.isEmpty else { continue }
                guard let json = (try? JSONValue(parsing: event.data))?.object,
                    let change = Change(json: json, epoch: reached?.epoch)
                else { throw .unexpected("an event is not a change; is the daemon much older?") }
                events = reader
                return change
            }
            return nil
        }

        private mutating func resumeAtEnd() async throws(ClientError) -> ChangePosition {
            let end = try await changes.position()
            position = end
            isGone = false
            hasBegun = true
            return end
        }

        private mutating func pause() async throws(ClientError) {
            let pause = Swift.min(.milliseconds(100) * (1 << Swift.min(failures, 10)), Self.longestPause)
            failures += 1
            try await changes.caller.wait(pause + pause * Double.random(in: 0..<0.25))
        }
    }
}

extension ClientError {
    /// Whether the daemon is down, busy or stopping, and can be expected back.
    var isPassing: Bool {
        switch self {
        case .unreachable, .interrupted: true
        case .problem(let problem): problem.status == 503 || problem.status == 429
        case .unexpected, .cancelled: false
        }
    }
}
