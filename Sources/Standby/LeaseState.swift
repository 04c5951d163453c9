/// What a daemon knows of the lease. What is said of a lease that it does not hold any more changes nothing.
struct LeaseState: Sendable {
    struct Held: Sendable, Equatable {
        /// etcd's id of the lease.
        var id: String
        /// The revision at which the holder's key came to be: the fence. It differs for each time that anyone holds it.
        var revision: Int64
        /// By the monotonic clock.
        var deadline: Duration
        /// The revision of the last write under this lease.
        var turn: Int64
        /// Whether what the former holder left has been taken over.
        var isPrepared = false
    }

    /// It may be over by now: see `valid`.
    private(set) var held: Held?
    /// Another daemon that holds it, as last seen.
    private(set) var other: String?
    /// Why it cannot be asked for or renewed.
    private var error: String?
    /// A push was held back although the lease lasted.
    private var isHeldBack = false
    /// Since this daemon could last take over.
    private var setback: Setback?

    init() {}

    private init(setback: Setback?) { self.setback = setback }

    /// Why it cannot be acquired or renewed now, or why this daemon could not take over.
    var problem: String? { error ?? setback?.reason }

    /// The lease if it lasts at this moment.
    func valid(at now: Duration) -> Held? { held.flatMap { $0.deadline > now ? $0 : nil } }

    /// Forgets all but what kept this daemon from taking over.
    private mutating func clear() { self = LeaseState(setback: setback) }

    private func holds(_ revision: Int64) -> Bool { held?.revision == revision }

    // MARK: Holding it

    mutating func acquire(_ new: Held) {
        clear()
        held = new
    }

    /// False if it is over.
    mutating func renew(_ revision: Int64, until deadline: Duration, at now: Duration) -> Bool {
        guard let valid = valid(at: now), valid.revision == revision else { return false }
        held?.deadline = max(valid.deadline, deadline)
        error = nil
        return true
    }

    /// False if it was lost before.
    mutating func lose(_ revision: Int64, because reason: String) -> Bool {
        guard holds(revision) else { return false }
        clear()
        error = reason
        return true
    }

    func turn(under revision: Int64) -> Int64? { holds(revision) ? held?.turn : nil }

    mutating func note(turn: Int64, under revision: Int64) {
        if holds(revision) { held?.turn = turn }
    }

    mutating func holdBack() { isHeldBack = true }

    /// Whether pushes were held back, and can go on.
    mutating func goOn() -> Bool {
        guard isHeldBack, error == nil else { return false }
        isHeldBack = false
        return true
    }

    // MARK: Taking over

    mutating func prepared(_ revision: Int64) {
        guard holds(revision) else { return }
        held?.isPrepared = true
        setback = nil
    }

    /// Returns whether that is news.
    mutating func note(setback reason: String) -> Bool {
        defer { setback = Setback(reason: reason, times: setback?.times ?? 0) }
        return setback?.reason != reason
    }

    /// Nil if it was lost before, or nothing stands in the way of taking over.
    mutating func giveUp(
        _ revision: Int64, ttl: Duration, at now: Duration
    ) -> (id: String, reason: String, pause: Duration)? {
        guard let held, held.revision == revision, var setback else { return nil }
        let pause = setback.giveUp(ttl, at: now)
        self = LeaseState(setback: setback)
        return (held.id, setback.reason, pause)
    }

    // MARK: Not holding it

    /// Call it when no daemon holds the lease. Returns whether this one does not compete for it yet.
    mutating func isLeftToAnother(at now: Duration) -> Bool {
        guard setback?.isPause(at: now) == true else { return false }
        (other, error) = (nil, nil)
        return true
    }

    /// Returns whether that is news.
    mutating func note(holder: String) -> Bool {
        defer { (other, error) = (holder, nil) }
        return other != holder
    }

    /// Returns whether it is the first of consecutive failures.
    mutating func note(error new: String) -> Bool {
        defer { error = new }
        return error == nil
    }
}
