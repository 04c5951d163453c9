import CacheStore
import EntitySchema
import JSONText
import Logging
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Deliveries to hooks")
struct HookKeeperTests {
    private static let schema = """
        schema: home
        upstream: { base_url: "http://localhost" }
        entities:
          chores:
            local: true
            fields: { id: { type: string }, title: { type: string } }
        """
    private static let rule = HookRule(name: "told", events: [.created, .changed, .deleted], entity: "chores")

    private struct Refused: Error {}

    /// Keeps each delivery, and refuses a given number first.
    private final class Recipient: Sendable {
        private let state: Mutex<(received: [HookDelivery], refusals: Int)>

        init(refusals: Int = 0) { state = Mutex((received: [], refusals: refusals)) }

        var received: [HookDelivery] { state.withLock { $0.received } }
        var ids: [String] { received.compactMap(\.occurrence.key) }
        var attempts: [Int] { received.map(\.attempt) }

        func receive(_ delivery: HookDelivery) throws {
            try state.withLock { state in
                state.received.append(delivery)
                guard state.refusals > 0 else { return }
                state.refusals -= 1
                throw Refused()
            }
        }
    }

    private let clock = ManualClock()
    private let store: CacheStore

    init() throws {
        store = try CacheStore.temporary(EntitySchema(yaml: Self.schema, file: "home.yaml"), hooks: [Self.rule])
    }

    private func keeper(_ recipient: Recipient, attempts: Int = 3) -> HookKeeper {
        keeper(attempts: attempts) { try recipient.receive($0) }
    }

    private func keeper(attempts: Int = 3, _ deliver: @escaping Hook.Delivery) -> HookKeeper {
        HookKeeper(
            store: store, hooks: [Hook(rule: Self.rule, attempts: attempts, deliver: deliver)], reachability: nil,
            now: { clock.timestamp }, clock: clock, log: .silent)
    }

    private func chore(_ id: String) async throws {
        _ = try await store.create("chores", body: .object(["id": .string(id), "title": "x"]), at: clock.timestamp)
    }

    private func state() throws -> HookState { try #require(try store.hookState("told")) }

    /// Returns when so many deliveries have succeeded.
    private func wait(forDelivered count: Int) async throws {
        try await store.until { try state().delivered >= count }
    }

    private func running(_ keeper: HookKeeper, _ body: () async throws -> Void) async throws {
        try await store.startHooks()
        try await whileRunning({ try await keeper.run() }, body)
    }

    @Test
    func `a commit wakes the hook, which gets the record, once and in order`() async throws {
        let recipient = Recipient()
        try await running(keeper(recipient)) {
            try await chore("a")
            try await chore("b")
            try await wait(forDelivered: 2)
        }
        #expect(recipient.ids == ["a", "b"])
        let first = try #require(recipient.received.first)
        #expect(first.record?["title"] == "x")
        #expect(first.key == "told-\(store.epoch)-\(first.occurrence.seq)")
        try await keeper(recipient).keepOnce()
        #expect(recipient.ids == ["a", "b"])
    }

    @Test
    func `a failed delivery is retried with the same key, and the next waits for it`() async throws {
        let recipient = Recipient(refusals: 1)
        let keeper = keeper(recipient)
        try await store.startHooks()
        try await chore("a")
        try await chore("b")
        try await keeper.keepOnce()
        clock.advance(by: .seconds(1))
        try await keeper.keepOnce()
        #expect(recipient.ids == ["a"])
        clock.advance(by: .seconds(1))
        try await keeper.keepOnce()
        #expect(recipient.ids == ["a", "a", "b"])
        #expect(recipient.attempts == [1, 2, 1])
        #expect(Set(recipient.received.prefix(2).map(\.key)).count == 1)
    }

    @Test
    func `after the last attempt a delivery is parked with its reason, and the next goes on`() async throws {
        let recipient = Recipient(refusals: 3)
        let keeper = keeper(recipient)
        try await store.startHooks()
        try await chore("a")
        try await chore("b")
        for _ in 0..<4 {
            try await keeper.keepOnce()
            clock.advance(by: .seconds(300))
        }
        #expect(recipient.ids == ["a", "a", "a", "b"])
        let parked = try await store.write(at: clock.timestamp) { try $0.parkedDeliveries("told", limit: 9) }
        #expect(parked.map(\.occurrence.key) == ["a"])
        #expect(parked.first?.reason.contains("Refused") == true)
    }

    @Test
    func `a parked delivery that someone retries is delivered once more`() async throws {
        let recipient = Recipient(refusals: 1)
        let keeper = keeper(recipient, attempts: 1)
        try await store.startHooks()
        try await chore("a")
        try await keeper.keepOnce()
        #expect(try state().parked == 1)
        try await store.write(at: clock.timestamp) { try $0.retryHook("told", nil) }
        try await keeper.keepOnce()
        #expect(recipient.attempts == [1, 2])
        #expect(try state().parked == 0)
    }

    @Test
    func `a paused hook gets nothing, and everything once it goes on`() async throws {
        let recipient = Recipient()
        let keeper = keeper(recipient)
        try await store.startHooks()
        try await store.write(at: clock.timestamp) { try $0.pauseHook("told", true) }
        try await chore("a")
        try await keeper.keepOnce()
        #expect(recipient.ids == [])
        try await store.write(at: clock.timestamp) { try $0.pauseHook("told", false) }
        try await keeper.keepOnce()
        #expect(recipient.ids == ["a"])
    }

    @Test
    func `a delivery that was cut off is made again, under the same key`() async throws {
        let recipient = Recipient()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        try await store.startHooks()
        try await chore("a")
        let hanging = keeper { [clock] delivery in
            try recipient.receive(delivery)
            begin.yield()
            try await clock.sleep(for: .seconds(3600))
        }
        let task = Task { try await hanging.run() }
        for await _ in begun { break }
        task.cancel()
        _ = await task.result
        try await keeper(recipient).keepOnce()
        #expect(recipient.ids == ["a", "a"])
        #expect(Set(recipient.received.map(\.key)).count == 1)
    }

    @Test
    func `a deleted record is told without it`() async throws {
        let recipient = Recipient()
        let keeper = keeper(recipient)
        try await store.startHooks()
        try await chore("a")
        try await store.delete("chores", key: "a", at: clock.timestamp)
        try await keeper.keepOnce()
        #expect(recipient.received.map(\.occurrence.event) == [.created, .deleted])
        #expect(recipient.received.map { $0.record == nil } == [true, true])
    }

    @Test
    func `10,000 changes in one transaction all come, in order`() async throws {
        let recipient = Recipient()
        let keeper = keeper(recipient)
        try await store.startHooks()
        try await store.write(at: clock.timestamp) { transaction in
            for number in 0..<10_000 {
                _ = try transaction.create("chores", .object(["id": .string("\(number)"), "title": "x"]))
            }
        }
        try await keeper.keepOnce()
        #expect(recipient.ids == (0..<10_000).map { "\($0)" })
        #expect(Set(recipient.received.map(\.key)).count == 10_000)
    }
}
