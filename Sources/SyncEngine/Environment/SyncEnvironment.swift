internal import CacheStore
internal import ContentStore
internal import EntitySchema
internal import Logging
internal import Upstream

/// What every part of the engine works with: set once, the same for all of them.
struct SyncEnvironment: Sendable {
    let schema: EntitySchema
    let store: CacheStore
    /// The content files of records; nil if the schema has no contents.
    let contents: ContentFolder?
    let upstream: any Upstream
    let settings: SyncSettings
    /// Measures waits.
    let clock: any Clock<Duration>
    /// The time of day.
    let now: @Sendable () -> Timestamp
    /// The time of day at the start plus the time that has passed since. Everything is scheduled by it, so setting the
    /// clock makes nothing early or late.
    var monotonicNow: @Sendable () -> Timestamp
    /// Yields numbers in 0..<1.
    let random: @Sendable () -> Double
    /// How far the server's clock is ahead of `now`; nil while unknown.
    let clockOffset: @Sendable () -> Duration?
    /// Called with each completed piece of work.
    let measure: @Sendable (SyncMeasurement) -> Void
    /// Called when the status may have changed.
    let changed: @Sendable () -> Void
    /// Whether changes may be sent by this daemon at this moment. Reading goes on without.
    let mayPush: @Sendable () -> Bool
    let pause: Published<Bool>
    let log: Logger
    let sleeps: LoopSleeps
    /// Which batch routes are open.
    var batches = BatchRoutes()
    /// Which records the upstream lacked once.
    let absences = AbsenceMarks()
    /// Which records the upstream refuses to show.
    let refusedReads = RefusedReads()
    let isolation = EngineIsolation()
}

extension SyncEnvironment {
    init(
        store: CacheStore, contents: ContentFolder? = nil, upstream: any Upstream, settings: SyncSettings,
        time: SyncTime, random: @escaping @Sendable () -> Double, callbacks: SyncCallbacks, log: Logger
    ) {
        let (start, stopwatch) = (time.now(), Stopwatch(time.clock))
        self.init(
            schema: store.schema, store: store, contents: contents, upstream: upstream, settings: settings,
            clock: time.clock, now: time.now, monotonicNow: { start + stopwatch.duration }, random: random,
            clockOffset: time.serverOffset, measure: callbacks.measure, changed: callbacks.changed,
            mayPush: callbacks.mayPush, pause: callbacks.pause, log: log, sleeps: LoopSleeps(clock: time.clock))
    }

    /// The server's time, or this machine's while that was never measured.
    var upstreamTime: Timestamp { now() + (clockOffset() ?? .zero) }

    var schedule: SyncSchedule { SyncSchedule(settings: settings, random: random) }

    /// The upstream has refused a batch with this message, and gets `size` changes at a time from now on, or one.
    func noteBatchLimit(_ message: String, _ size: Int) {
        log.warning(
            "the upstream refuses batches of changes; sending fewer at a time, and trying again later",
            metadata: ["at_a_time": "\(max(size, 1))", "error": "\(message)"])
        changed()
    }

    /// An attempt has ended; it is logged if the change belongs to a trace.
    var noteEnd: @Sendable (OutboxChange, PushOutcome) -> Void {
        { [log] change, outcome in
            guard let trace = change.trace else { return }
            log.info(
                "an attempt to send a traced change ended",
                metadata: [
                    "change": "\(change.id)", "entity": "\(change.entity)", "record": "\(change.key)",
                    "outcome": "\(SyncMeasurement.PushOutcome(outcome).rawValue)", "trace_id": "\(trace.id)",
                ])
        }
    }
}
