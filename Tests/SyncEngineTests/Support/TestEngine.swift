import ContentStore
import EntitySchema
import JSONText
import Logging
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// An engine with a real cache, a fake upstream and a clock that stands still.
struct TestEngine {
    let store: CacheStore
    let upstream: FakeUpstream
    let clock: ManualClock
    let engine: SyncEngine
    /// The work that the engine reported.
    let measurements = Measurements()

    final class Measurements: Sendable {
        private let list = Mutex<[SyncMeasurement]>([])

        var all: [SyncMeasurement] { list.withLock { $0 } }

        func add(_ measurement: SyncMeasurement) { list.withLock { $0.append(measurement) } }
    }

    init(
        upstream: FakeUpstream = FakeUpstream(), remote: (any Upstream)? = nil, store: CacheStore? = nil,
        schema yaml: String = TestEngine.shop, place: Double? = nil,
        clockOffset: @escaping @Sendable () -> Duration? = { nil },
        mayPush: @escaping @Sendable () -> Bool = { true },
        pause: Published<Bool> = Published(false),
        log: Logger = .silent
    ) throws {
        self.upstream = upstream
        let clock = ManualClock()
        self.clock = clock
        let schema = try EntitySchema(yaml: yaml, file: "shop.yaml")
        self.store = try store ?? CacheStore.temporary(schema)
        engine = SyncEngine(
            store: self.store, upstream: remote ?? upstream,
            settings: SyncSettings(retry: RetryPolicy(maximumAttempts: 3), place: place),
            time: SyncTime(clock: clock, now: { clock.timestamp }, serverOffset: clockOffset), random: { 0.5 },
            callbacks: SyncCallbacks(
                measure: { [measurements] in measurements.add($0) }, mayPush: mayPush, pause: pause), log: log)
    }

    /// Runs the engine while `body` does its work, and ends it.
    func running(_ body: () async throws -> Void) async throws {
        try await whileRunning({ [engine] in try await engine.run() }, body)
    }

    /// Lets the running engine's delays pass until `condition` holds; stops after some hours of the engine's time.
    func until(step: Duration = .milliseconds(500), _ condition: () async throws -> Bool) async throws {
        for number in 1...20_000 where try await !condition() {
            // Both loops sleep: nothing is left to do at this time.
            await clock.waitForSleepers(2)
            clock.advance(by: step)
            await Task.yield()
            // What else is under way, such as a write in the database's thread, needs the processor too. On a busy machine
            // hours of the engine's time would be over before it gets its turn.
            if number.isMultiple(of: 20) { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(try await condition())
    }

    /// A pusher for changes, without the engine.
    func pusher(
        at now: Timestamp, to remote: (any Upstream)? = nil, random: Double = 0, batches: BatchRoutes = BatchRoutes(),
        callableSince: Timestamp? = nil, log: Logger = .silent
    ) -> Pusher {
        .test(
            store, to: remote ?? upstream, at: now, random: random, batches: batches,
            callableSince: callableSince ?? clock.timestamp, log: log)
    }

    /// Sends what is ready after a while, once, without the engine.
    func send(after delay: Duration = .zero, random: Double = 0) async throws {
        let now = clock.timestamp + delay
        let pusher = pusher(at: now, random: random)
        for change in try store.readyChanges(limit: 9, at: now) { _ = try await pusher.send(change) }
    }

    func record(_ key: String, _ entity: String = "orders") throws -> JSONText? {
        try store.record(entity, key: key).map { try JSONText($0) }
    }

    /// A member of the oldest queued change's error.
    func error(_ member: String = "class") throws -> String? {
        try store.pending(PendingQuery(limit: 1)).changes.first?.at(path: "error.\(member)")?.string
    }

    func create(_ body: String = #"{"notes":"new"}"#, in entity: String = "orders") async throws -> String {
        try await store.create(entity, body: JSONText(parsing: body), at: clock.timestamp)
    }

    func change(_ key: String, _ body: String) async throws {
        try await store.update("orders", key: key, body: JSONText(parsing: body), at: clock.timestamp)
    }

    static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
          idempotency_header: Idempotency-Key
          pagination: { style: page }
        entities:
          orders:
            fields:
              id: { type: string }
              notes: { type: string }
              updated_at: { type: time }
            pull:
              path: /orders
              since: { param: since, field: updated_at }
              detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
          messages:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, required: true }
            push:
              create: { call: "POST /orders/{order_id}/messages" }
          parts:
            fields:
              id: { type: string }
            pull: { path: /parts }
        """
}

extension Pusher {
    /// An environment whose time stands still.
    static func test(
        _ store: CacheStore, _ contents: ContentFolder? = nil, to upstream: any Upstream, at now: Timestamp,
        random: Double = 0, batches: BatchRoutes = BatchRoutes(), callableSince: Timestamp, lane: PushLane = .fields,
        log: Logger = .silent
    ) -> Pusher {
        var environment = SyncEnvironment(
            store: store, contents: contents, upstream: upstream,
            settings: SyncSettings(retry: RetryPolicy(maximumAttempts: 3)),
            time: SyncTime(clock: ManualClock(), now: { now }), random: { random }, callbacks: SyncCallbacks(),
            log: log)
        environment.monotonicNow = { now }
        environment.batches = batches
        return Pusher(
            environment, upstream: upstream, freshness: Freshness(callableSince: callableSince), lane: lane)
    }
}
