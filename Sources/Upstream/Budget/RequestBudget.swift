package import EntitySchema
internal import Synchronization

/// Lets requests to one upstream pass as its limits allow: changes and what people wait for first, pulls after them.
///
/// A request counts from when it is sent until `span` after its answer, because the upstream may have received it at any
/// time before it answered. So no span of that length has more than the limit, by the upstream's clock too.
package final class RequestBudget: Sendable {
    package enum Urgency: Sendable, Equatable {
        /// A change, what it needs, or what someone waits for.
        case urgent
        /// A pull. It leaves a fifth of each limit to the others, or one request, so that a change need not wait for a long
        /// pull.
        case background
    }

    /// What is left at one moment.
    package struct Balance: Sendable, Equatable {
        /// Requests that may be sent now; the least of all limits.
        package var remaining: Int
        /// The limit with the least left: so many requests in so long. Nil if only the answers state one.
        package var window: RequestLimits.Window?
        /// Requests that wait for their turn.
        package var waiting: Int
    }

    /// What an answer says about the upstream's own count.
    struct Stated: Sendable {
        var remaining: Int
        /// How long until there are more.
        var reset: Duration
    }

    /// A request that was let pass.
    struct Pass: Sendable {
        /// Its number in the journal.
        fileprivate var number: Int?
    }

    /// Monotonic, also while the machine sleeps.
    private let monotonic: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let journal: (any RequestJournal)?
    let limits: RequestLimits
    private let state: Mutex<BudgetState>

    /// `ages`: how long ago each request of an earlier process was over. `journal` keeps them for the next one.
    package init(
        limits: RequestLimits, ages: [Duration] = [], monotonic: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void, journal: (any RequestJournal)? = nil
    ) {
        self.monotonic = monotonic
        self.sleep = sleep
        self.journal = journal
        self.limits = limits
        let now = monotonic()
        state = Mutex(BudgetState(limits: limits, ends: ages.sorted(by: >).map { now - $0 }))
    }

    package var balance: Balance { state.withLock { $0.balance(at: monotonic()) } }

    /// How long to wait after an answer that asks for it without a time, also in the headers that the schema names: until
    /// the limit with the least left has a whole span behind it. Nil if the schema declares no such limit.
    func delay(_ said: Stated?) -> Duration? {
        if let said, said.remaining == 0 { return said.reset }
        return balance.window?.span ?? limits.windows.map(\.span).min()
    }

    /// Waits until a request may be sent. Call `leave` with the pass when it is answered or has failed.
    ///
    /// `waits` is called with the longest time until the wait is looked at again, each time that it goes on.
    func enter(
        _ urgency: Urgency, waits: @escaping @Sendable (Duration) -> Void
    ) async throws(CancellationError) -> Pass {
        let id = state.withLock { $0.newID() }
        let isGranted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.waiting.append(
                        BudgetState.Waiter(id: id, urgency: urgency, waits: waits, continuation: continuation))
                }
                // A task that was cancelled before it waited finds its handler called already.
                if Task.isCancelled { cancel(id) }
                grant()
            }
        } onCancel: {
            cancel(id)
        }
        guard isGranted else { throw CancellationError() }
        return Pass(number: journal?.sent())
    }

    func leave(_ pass: Pass, _ said: Stated? = nil) {
        if let number = pass.number { journal?.answered(number) }
        state.withLock { $0.leave(said, at: monotonic()) }
        grant()
    }

    private func cancel(_ id: Int) {
        state.withLock { $0.remove(id) }?.continuation.resume(returning: false)
    }

    /// Lets pass who may, and comes back when the next one may.
    private func grant() {
        let (granted, waits, pause) = state.withLock { state in
            let granted = state.grant(at: monotonic())
            let pause = state.pause(at: monotonic())
            state.setTimer(pause.map(timer))
            return (granted, state.waiting.map(\.waits), pause)
        }
        for waiter in granted { waiter.continuation.resume(returning: true) }
        for wait in waits { wait(pause ?? Self.longestExchange) }
    }

    private func timer(_ pause: Duration) -> Task<Void, Never> {
        Task { [weak self, sleep] in
            guard (try? await sleep(pause)) != nil else { return }
            self?.grant()
        }
    }

    /// When all wait for requests under way: the longest that one takes.
    private static let longestExchange = Duration.seconds(120)
}

/// A request that the budget, if there is one, let pass. It ends once, however often it is left.
final class Passage: Sendable {
    private let pass: Mutex<RequestBudget.Pass?>
    private let budget: RequestBudget?

    init(_ pass: RequestBudget.Pass?, _ budget: RequestBudget?) {
        self.pass = Mutex(pass)
        self.budget = budget
    }

    func leave(_ said: RequestBudget.Stated? = nil) {
        if let pass = pass.withLock({ $0.take() }) { budget?.leave(pass, said) }
    }
}

/// Remembers when requests were over, for a budget that goes on after a restart.
package protocol RequestJournal: Sendable {
    /// A request is about to be sent. Returns its number for `answered`.
    func sent() -> Int
    func answered(_ number: Int)
}
