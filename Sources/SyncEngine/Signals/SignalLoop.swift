internal import EntitySchema
internal import Logging

/// Reads what signals have named: a record by its key, an entity by a pull.
///
/// Reads are in the background of everything else, a few at a time. While the upstream may not be called, signals only
/// say what to pull once it may.
struct SignalLoop: Sendable {
    let environment: SyncEnvironment
    let monitor: HealthMonitor
    let pull: PullLoop
    let refresher: RecordRefresher
    let desk: SignalDesk

    /// Runs until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                if await monitor.canCall {
                    while let signal = desk.next() { group.addTask { await read(signal) } }
                } else {
                    let entities = desk.drain()
                    if !entities.isEmpty { await pull.schedule(SyncRequest(entities: entities)) }
                }
                await environment.sleeps.signals.sleep(for: desk.wait)
            }
        }
    }

    private func read(_ signal: Signal) async {
        if await !isRead(signal) { await pull.requestAfterThisRun(SyncRequest(entities: [signal.entity])) }
        desk.end(signal)
        await environment.sleeps.signals.wake()
    }

    /// False if the entity must be pulled instead.
    private func isRead(_ signal: Signal) async -> Bool {
        guard let key = signal.key, let entity = environment.schema[signal.entity] else { return false }
        switch await refresher.readNamed(entity, key: key) {
        case .stored, .local: return true
        case .absent: return refresher.hasServedSingles(of: entity)
        case .unsupported, .timedOut, .busy: return false
        case .unavailable(let reason), .failed(let reason):
            environment.log.debug(
                "a record that a signal named could not be read; pulling its entity",
                metadata: ["entity": "\(entity.name)", "error": "\(reason)"])
            return false
        }
    }
}
