internal import EntitySchema
internal import JSONText
internal import Logging
internal import Synchronization

/// Takes the messages of all sources, from any thread, and keeps what is to be read because of them.
final class SignalDesk: Sendable {
    private struct State {
        var queue: SignalQueue
        /// By the source's name.
        var sources: [String: SignalStatus]
    }

    private let environment: SyncEnvironment
    private let state: Mutex<State>

    init(_ environment: SyncEnvironment) {
        self.environment = environment
        var limits: [String: SignalQueue.Limits] = [:]
        for entity in environment.schema.entities where entity.pull?.mode == .full {
            // A pull brings the whole list.
            limits[entity.name] = SignalQueue.Limits(records: 100, longestGap: .seconds(60))
        }
        var sources: [String: SignalStatus] = [:]
        for source in environment.schema.upstream.signals {
            sources[source.name] = SignalStatus(
                kind: source.word, path: source.path, isConnected: source.isWebhook ? nil : false)
        }
        state = Mutex(State(queue: SignalQueue(limits: limits), sources: sources))
    }

    /// In the order of the schema.
    var status: [SignalStatus] {
        state.withLock { state in environment.schema.upstream.signals.compactMap { state.sources[$0.name] } }
    }

    // MARK: Messages

    /// `message` is nil if it was too large to be kept; then everything that it may be about is pulled.
    func take(_ message: JSONText?, event: String? = nil, from source: SignalSource) {
        guard let message else { return noteMissed(by: source) }
        var isUnknown = false
        var signals: [Signal] = []
        for signal in source.reading.signals(in: message, event: event) {
            if let signal { signals.append(signal) } else { isUnknown = true }
        }
        if isUnknown { environment.measure(.signal(source: source.name, .unknown)) }
        guard !signals.isEmpty else { return }
        let (time, now) = (environment.now(), environment.monotonicNow())
        let isNew = state.withLock { state in
            state.sources[source.name]?.lastSignalAt = time
            return signals.map { state.queue.add($0, at: now) }
        }
        for isNew in isNew { environment.measure(.signal(source: source.name, isNew ? .accepted : .joined)) }
        if isNew.contains(true) { wake() }
    }

    /// Signals of the source may have been missed: everything that they may have been about is pulled.
    func noteMissed(by source: SignalSource) {
        let now = environment.monotonicNow()
        state.withLock { state in
            for entity in source.reading.entities { _ = state.queue.add(Signal(entity: entity), at: now) }
        }
        wake()
    }

    private func wake() {
        Task { [sleeps = environment.sleeps] in await sleeps.signals.wake() }
    }

    /// The number of the last signal of any source.
    var newest: Int { state.withLock { $0.queue.newest } }

    /// Whether everything that signals up to this number have named was read, or left to a pull.
    func hasRead(through number: Int) -> Bool { state.withLock { $0.queue.hasRead(through: number) } }

    // MARK: Sources

    func noteConnected(_ source: SignalSource) {
        let wasConnected = state.withLock { state in
            defer {
                state.sources[source.name]?.isConnected = true
                state.sources[source.name]?.error = nil
            }
            return state.sources[source.name]?.isConnected == true
        }
        guard !wasConnected else { return }
        environment.log.info("receiving signals", metadata: ["source": "\(source.name)"])
        environment.changed()
    }

    /// `error` is nil if the upstream closed the stream without a failure.
    func noteDisconnected(_ source: SignalSource, _ error: String?) {
        let isNew = state.withLock { state in
            let before = state.sources[source.name]
            state.sources[source.name]?.isConnected = false
            state.sources[source.name]?.error = error
            return before?.isConnected == true || before?.error != error
        }
        guard isNew else { return }
        if let error {
            environment.log.notice(
                "no signals from the upstream; polling goes on",
                metadata: ["source": "\(source.name)", "error": "\(error)"])
        }
        environment.changed()
    }

    // MARK: What to read

    func next() -> Signal? {
        let now = environment.monotonicNow()
        return state.withLock { state in
            state.queue.underWay < environment.settings.parallel ? state.queue.next(at: now) : nil
        }
    }

    func end(_ signal: Signal) { state.withLock { $0.queue.end(signal) } }

    func drain() -> Set<String> { state.withLock { $0.queue.drain() } }

    /// Until something can be read; nil until `wake`.
    var wait: Duration? {
        let now = environment.monotonicNow()
        return state.withLock { state in
            state.queue.underWay < environment.settings.parallel ? state.queue.wait(at: now) : nil
        }
    }
}
