import CacheStore
import EntitySchema
import Logging
import SQLiteStore
import Standby
import SyncEngine
import Upstream

/// Creates what a daemon has that shares its account with a standby.
extension Service {
    /// Nil for a daemon that stands alone.
    func standbyLink(_ store: CacheStore) throws -> StandbyLink? {
        let standby = setup.configuration.standby
        guard !standby.members.isEmpty else { return nil }
        let settings = standby.settings(name: setup.configuration.instance ?? host.machine.hostName)
        let start = ContinuousClock.now
        let lease = Lease(
            settings, gateway: try EtcdGateway(settings, user: standby.etcdUser(), transport: standby.transport()),
            session: RandomID.make(), database: "\(store.epoch) \(settings.name)", clock: TimerClock(),
            monotonic: { start.duration(to: .now) }, changed: { [statusChanged] in statusChanged.announce() },
            log: logger("standby"))
        return StandbyLink(lease, store, now: host.now, log: logger("standby"))
    }

    /// Runs hooks and reminders; of two daemons that share an account, only the one that holds the lease does.
    func deliver(_ store: CacheStore, _ engine: SyncEngine, _ standby: StandbyLink?) async throws {
        guard let standby else { return try await deliver(store, engine, remindersAfter: nil) }
        let turn = DeliveryTurn(
            store, setup.schema, shared: standby.deliveries, isOwn: { standby.lease.mayPush }, changed: statusChanged,
            pulled: { engine.status().entities.compactMapValues(\.lastSyncedAt) },
            deliversReminders: !setup.schema.reminders.isEmpty && setup.configuration.reminders.recipient != nil,
            now: host.now, clock: TimerClock(), log: logger("standby"))
        try await turn.run { try await deliver(store, engine, remindersAfter: $0) }
    }

    private func deliver(_ store: CacheStore, _ engine: SyncEngine, remindersAfter time: Timestamp?) async throws {
        let hooks = try hookKeeper(store, engine)
        let reminders = reminderKeeper(store, engine, deliveredBefore: time)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hooks.run() }
            if let reminders { group.addTask { try await reminders.run() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
