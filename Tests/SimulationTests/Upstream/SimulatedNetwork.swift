import Synchronization

/// The network between one daemon and the upstream: delays, outages and lost answers.
final class SimulatedNetwork: Sendable {
    /// A fault of one of the next requests.
    enum Fault: String, Sendable, CaseIterable {
        /// 500 without applying the request; and 500 after applying it.
        case failsBefore, failsAfter
        /// No answer without applying the request; and none after applying it.
        case lostBefore, lostAfter
        case throttled, unauthorized, slow
        /// Applied, but the answer is not JSON.
        case garbled
        /// A page repeats the records of the page before it; and names an earlier page as the next.
        case repeatsPage, loopsBack
    }

    /// A time in which the upstream is reachable but requests fail.
    struct Outage: Sendable {
        enum Kind: String, Sendable, CaseIterable {
            /// Answers 500 to everything; and answers nothing.
            case fails, isSilent
            /// Only the probe succeeds.
            case looksWell
            /// Only changes fail.
            case failsChanges
        }

        var kind: Kind
        var end: Duration
        /// Identifies the outage.
        var number: Int
    }

    private struct State: Sendable {
        var isOnline = true
        var faults: [Fault] = []
        var outage: Outage?
        var outages = 0
        var isQuick = false
        var hidesOutcomes = false
    }

    private let state = Mutex(State())

    var isOnline: Bool { state.withLock { $0.isOnline } }

    /// Going offline or online starts a new outage: the engine starts over as well.
    func setOnline(_ isOnline: Bool) {
        state.withLock { state in
            state.isOnline = isOnline
            state.outages += 1
            state.outage?.number = state.outages
        }
    }

    func add(_ fault: Fault, times: Int) { state.withLock { $0.faults += Array(repeating: fault, count: times) } }

    func nextFault() -> Fault? { state.withLock { $0.faults.isEmpty ? nil : $0.faults.removeFirst() } }

    func fail(_ kind: Outage.Kind, until end: Duration) {
        state.withLock { state in
            state.outages += 1
            state.outage = Outage(kind: kind, end: end, number: state.outages)
        }
    }

    func outage(at time: Duration) -> Outage? { state.withLock { $0.outage.flatMap { time < $0.end ? $0 : nil } } }

    /// Requests and answers then take only a few milliseconds.
    var isQuick: Bool { state.withLock { $0.isQuick } }
    func hurry(_ isQuick: Bool) { state.withLock { $0.isQuick = isQuick } }

    /// True once a change was applied whose outcome no answer reported.
    var hidesOutcomes: Bool { state.withLock { $0.hidesOutcomes } }
    func hideOutcome() { state.withLock { $0.hidesOutcomes = true } }

    func heal() {
        state.withLock { state in
            state.isOnline = true
            state.faults = []
            state.outage = nil
        }
    }
}
