import EntitySchema
import JSONText
import ReferenceUpstream
import Synchronization

/// Says what has changed upstream as real servers do: late, out of order, twice, or never.
///
/// A message is in the list of events, and goes to all who listen, at the moment when it is sent.
final class SimulatedSignals: Sendable {
    private struct State {
        /// All messages that were sent; the first has the number 1.
        var sent: [JSONText] = []
        var listeners: [Int: @Sendable (JSONText) -> Void] = [:]
        var lastListener = 0
        var isReliable = false
    }

    private let feeds: Feeds
    private let executor: SimulatedExecutor
    private let log: EventLog
    private let state = Mutex(State())

    private static let pageSize = 5

    init(feeds: Feeds, executor: SimulatedExecutor, log: EventLog) {
        self.feeds = feeds
        self.executor = executor
        self.log = log
    }

    /// From now on every message is sent once and at once.
    func beReliable() { state.withLock { $0.isReliable = true } }

    var isReliable: Bool { state.withLock { $0.isReliable } }

    func announce(_ entity: String, _ key: String) {
        guard feeds.signals != .none else { return }
        let feeds = feeds
        let isReliable = isReliable
        let (delays, isStranger) = executor.random { random -> ([Int], Bool) in
            if isReliable { return ([random.within(0...50)], false) }
            let (isLost, isTwice) = (random.chance(feeds.losses), random.chance(feeds.repeats))
            let delays = (0..<(isTwice ? 2 : 1)).map { _ in random.within(0...feeds.signalsLag) }
            return (isLost ? [] : delays, random.chance(feeds.strangers))
        }
        for delay in delays { executor.after(.milliseconds(delay)) { self.send(entity, key) } }
        if isStranger { executor.after(.zero) { self.send("invoices", "i1") } }
    }

    private func send(_ entity: String, _ key: String) {
        let (message, listeners) = state.withLock { state in
            let message = JSONText.object([
                "seq": .integer(state.sent.count + 1), "kind": .string(entity), "id": .string(key),
            ])
            state.sent.append(message)
            return (message, state.listeners.sorted { $0.key < $1.key }.map(\.value))
        }
        log.add("server signals \(message.text)")
        for listener in listeners { listener(message) }
    }

    // MARK: Receiving

    /// Calls `receive` with each message from now on, until `leave`.
    func listen(_ receive: @escaping @Sendable (JSONText) -> Void) -> Int {
        state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = receive
            return state.lastListener
        }
    }

    func leave(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }

    /// The first messages after a number.
    func events(after number: Int) -> [JSONText] {
        state.withLock { Array($0.sent.dropFirst(max(0, number)).prefix(Self.pageSize)) }
    }
}
