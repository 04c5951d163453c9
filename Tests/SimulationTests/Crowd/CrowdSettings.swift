import EntitySchema
import ReferenceUpstream

extension SimulationSettings {
    /// Many daemons on one upstream: what does not concern how they share its records is simple.
    static func crowd(of count: Int, seed: UInt64, policy: ConflictPolicy) -> SimulationSettings {
        var settings = SimulationSettings(seed: seed)
        var random = SplitMix64(seed: seed ^ 0x6372_6f77_6400)
        settings.daemons = count
        settings.policy = policy
        settings.clockErrors = (0..<count).map { _ in random.within(-120_000...120_000) }
        // A lost creation is repeated under its key, and no change fails for good because of a bad day.
        settings.idempotency = true
        settings.maximumAttempts = 1000
        settings.pageSize = 50
        settings.overlap = 60
        settings.hasVisits = false
        settings.comparesAll = false
        settings.endsWithOutage = false
        settings.window = .everything
        settings.feeds = Feeds()
        return settings
    }
}
