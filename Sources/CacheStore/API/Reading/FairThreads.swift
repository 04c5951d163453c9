internal import Dispatch
internal import Synchronization
internal import Turns

/// A few threads for which callers take turns, however much one of them asks for. One caller takes one of the threads at a time,
/// unless it may take all.
package final class FairThreads: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var idle: [DispatchQueue]
        var waiting = Turns<ReadCaller, Work>()
        /// Those who have a thread, and may have no other.
        var served: Set<ReadCaller> = []

        /// The work whose turn it is, and a thread; nil when there is none for anyone who waits.
        mutating func take() -> (queue: DispatchQueue, work: Work)? {
            guard !idle.isEmpty, let turn = waiting.next(where: { !served.contains($0) }) else { return nil }
            if !turn.caller.mayTakeAll { served.insert(turn.caller) }
            return (idle.removeLast(), turn.item)
        }
    }

    private let state: Mutex<State>

    package init(_ label: String, count: Int) {
        state = Mutex(State(idle: (1...count).map { DispatchQueue(label: "\(label)-\($0)") }))
    }

    /// Returns what `body` makes once it is this caller's turn, which ends when this returns: else what is made would fill the memory
    /// while the tasks that wait for it cannot go on. `isCancelled` is set when the task is cancelled.
    package func result<Result: Sendable>(
        for caller: ReadCaller, _ body: @escaping @Sendable (_ isCancelled: CancellationFlag) throws -> Result
    ) async throws -> Result {
        let isCancelled = CancellationFlag()
        defer { endTurn(of: caller) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(for: caller) { continuation.resume(with: Swift.Result { try body(isCancelled) }) }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    /// Does the work once it is this caller's turn, which lasts until `endTurn`.
    func add(for caller: ReadCaller, _ work: @escaping Work) {
        state.withLock { $0.waiting.add(work, for: caller) }
        startNext()
    }

    func endTurn(of caller: ReadCaller) {
        state.withLock { _ = $0.served.remove(caller) }
        startNext()
    }

    private func startNext() {
        guard let (queue, work) = state.withLock({ $0.take() }) else { return }
        queue.async { [self] in
            work()
            state.withLock { $0.idle.append(queue) }
            startNext()
        }
    }
}

/// Says to work on another thread that nothing waits for it any more.
package final class CancellationFlag: Sendable {
    private let value = Atomic(false)
    package var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}

/// For whom something is read or written that may take long.
package struct ReadCaller: Sendable, Hashable {
    private let user: UInt32?
    private let address: String
    /// Whether it may take all threads for such reads, and all places.
    package let mayTakeAll: Bool

    /// `address` tells apart those whose user is not known.
    package init(user: UInt32?, address: String = "", mayTakeAll: Bool) {
        (self.user, self.address, self.mayTakeAll) = (user, address, mayTakeAll)
    }

    /// The same for the same caller, and another one for each other; empty for the daemon.
    package var name: String { user.map(String.init) ?? address }

    /// No caller of the API.
    package static let daemon = ReadCaller(user: nil, mayTakeAll: true)
}
