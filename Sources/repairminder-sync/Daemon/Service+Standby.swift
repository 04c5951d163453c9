import CacheStore
import Logging
internal import SQLiteStore
import Standby
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
}
