internal import EntitySchema

/// What a `RequestBudget` knows. All times are monotonic.
struct BudgetState: Sendable {
    struct Waiter: Sendable {
        var id: Int
        var urgency: RequestBudget.Urgency
        var waits: @Sendable (Duration) -> Void
        var continuation: CheckedContinuation<Bool, Never>
    }

    /// What the last answers said is left.
    private struct Left {
        var remaining: Int
        var until: Duration
    }

    private let limits: RequestLimits
    /// In the order they came.
    var waiting: [Waiter] = []
    private var underWay = 0
    /// When each of the last requests was over, oldest first; as many as the longest window needs.
    private var ends: [Duration]
    private var stated: Left?
    private var lastID = 0
    private var timer: Task<Void, Never>?

    init(limits: RequestLimits, ends: [Duration]) {
        self.limits = limits
        self.ends = ends
    }

    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func remove(_ id: Int) -> Waiter? {
        waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0) }
    }

    /// Replaces the timer, which ends.
    mutating func setTimer(_ next: Task<Void, Never>?) {
        timer?.cancel()
        timer = next
    }

    // MARK: Passing

    /// Takes out all that may pass now: urgent ones first, each kind in turn.
    mutating func grant(at now: Duration) -> [Waiter] {
        forget(before: now)
        var granted: [Waiter] = []
        while let index = waiting.firstIndex(where: { $0.urgency == .urgent }) ?? waiting.indices.first,
            opening(for: waiting[index].urgency, at: now) == .zero
        {
            granted.append(waiting.remove(at: index))
            underWay += 1
            stated?.remaining -= 1
        }
        return granted
    }

    /// How long until the next one may pass; nil if it waits for a request under way, or none waits.
    func pause(at now: Duration) -> Duration? {
        guard !waiting.isEmpty else { return nil }
        let urgency: RequestBudget.Urgency = waiting.contains { $0.urgency == .urgent } ? .urgent : .background
        return opening(for: urgency, at: now)
    }

    mutating func leave(_ said: RequestBudget.Stated?, at now: Duration) {
        underWay -= 1
        ends.append(now)
        guard let said else { return }
        let until = now + said.reset
        // Answers overtake each other: within one window the least counts. Resets are in whole seconds.
        if let stated, until < stated.until + .seconds(2), stated.until > now {
            self.stated = Left(remaining: min(stated.remaining, said.remaining), until: stated.until)
        } else {
            stated = Left(remaining: said.remaining - underWay, until: until)
        }
    }

    /// Zero if a request may pass, else how long until it may; nil if that depends on requests under way.
    private func opening(for urgency: RequestBudget.Urgency, at now: Duration) -> Duration? {
        if let parallel = limits.parallel, underWay >= parallel { return nil }
        var latest = Duration.zero
        for window in limits.windows {
            let usable = window.requests - (urgency == .background ? window.reserve : 0)
            let recent = recent(of: window, at: now)
            let excess = underWay + recent.count + 1 - usable
            guard excess > 0 else { continue }
            // The `excess` oldest ones must have been over for the whole span.
            guard excess <= recent.count else { return nil }
            latest = max(latest, recent[recent.startIndex + excess - 1] + window.span - now)
        }
        if let stated, stated.until > now, stated.remaining <= (urgency == .background ? 1 : 0) {
            latest = max(latest, stated.until - now)
        }
        return latest
    }

    private func recent(of window: RequestLimits.Window, at now: Duration) -> ArraySlice<Duration> {
        // Sorted, so the first that still counts is found by halving.
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] + window.span <= now { low = middle + 1 } else { high = middle }
        }
        return ends[low...]
    }

    private mutating func forget(before now: Duration) {
        guard let longest = limits.windows.map(\.span).max() else { return ends.removeAll() }
        let count = ends.firstIndex { $0 + longest > now } ?? ends.count
        // Not each time, because the rest moves.
        if count > 64 || count == ends.count { ends.removeFirst(count) }
    }

    // MARK: Balance

    func balance(at now: Duration) -> RequestBudget.Balance {
        var balance: (remaining: Int, window: RequestLimits.Window?)?
        for window in limits.windows {
            let left = max(0, window.requests - underWay - recent(of: window, at: now).count)
            if left < balance?.remaining ?? .max { balance = (left, window) }
        }
        if let stated, stated.until > now, max(0, stated.remaining) < balance?.remaining ?? .max {
            balance = (max(0, stated.remaining), nil)
        }
        return RequestBudget.Balance(
            remaining: balance?.remaining ?? max(0, (limits.parallel ?? 1) - underWay), window: balance?.window,
            waiting: waiting.count)
    }
}

extension RequestLimits.Window {
    /// What pulls leave to changes: at least one request, unless they would never have any.
    fileprivate var reserve: Int { requests > 1 ? max(1, requests / 5) : 0 }
}
