import Synchronization

/// What lies between one daemon and the upstream: delays, outages and answers that get lost.
final class SimulatedNetwork: Sendable {
    /// What happens to one of the next requests.
    enum Fault: String, Sendable, CaseIterable {
        /// 500, nothing done; and 500 although it was done.
        case failsBefore, failsAfter
        /// No answer, nothing done; and none although it was done.
        case lostBefore, lostAfter
        case throttled, unauthorized, slow
        /// Done, but the answer is no JSON.
        case garbled
        /// A list's page holds once more what the page before it held; and names a page before it as the next.
        case repeatsPage, loopsBack
    }

    /// A time in which an upstream is there, and fails at whatever is asked.
    struct Outage: Sendable {
        enum Kind: String, Sendable, CaseIterable {
            /// 500 to everything; and no answer to anything.
            case fails, isSilent
            /// All is well, says the probe only.
            case looksWell
            /// Changes fail, everything else works.
            case failsChanges
        }

        var kind: Kind
        var end: Duration
        /// Tells one outage from another.
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

    /// An outage is another one after the network was gone: then everything has begun anew.
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

    /// Milliseconds there and back are then few.
    var isQuick: Bool { state.withLock { $0.isQuick } }
    func hurry(_ isQuick: Bool) { state.withLock { $0.isQuick = isQuick } }

    /// A change was done without an answer that tells what came of it, ever.
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
