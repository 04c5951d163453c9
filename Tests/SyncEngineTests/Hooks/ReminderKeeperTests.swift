import CacheStore
import EntitySchema
import JSONText
import Logging
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Reminders")
struct ReminderKeeperTests {
    private static let schema = """
        schema: home
        upstream: { base_url: "http://localhost" }
        reminders: { chore: { of: chores, at: at, text: "{title}" } }
        entities:
          chores:
            local: true
            fields: { id: { type: string }, title: { type: string }, at: { type: time } }
        """

    private let clock = ManualClock()
    private let store: CacheStore

    init() throws {
        store = try CacheStore.temporary(EntitySchema(yaml: Self.schema, file: "home.yaml"), hooks: [.reminders])
    }

    private func keeper(
        delivers: Bool = true, deliveredBefore: Timestamp? = nil, isCaughtUp: Bool = true
    ) -> ReminderKeeper {
        ReminderKeeper(
            store: store, delivers: delivers, deliveredBefore: deliveredBefore, isCaughtUp: { isCaughtUp },
            now: { clock.timestamp }, clock: clock, log: .silent)
    }

    /// The keeper of the hook, which refuses a given number of deliveries first, and what it was given.
    private func hook(refusals: Int = 0, attempts: Int = 3) -> (keeper: HookKeeper, given: Given) {
        let given = Given(refusals: refusals)
        let hook = Hook(rule: .reminders, attempts: attempts) { try given.take($0) }
        let keeper = HookKeeper(
            store: store, hooks: [hook], reachability: nil, now: { clock.timestamp }, clock: clock,
            log: .silent)
        return (keeper, given)
    }

    private final class Given: Sendable {
        private struct Refused: Error {}

        private let state: Mutex<(deliveries: [HookDelivery], refusals: Int)>

        init(refusals: Int) { state = Mutex((deliveries: [], refusals: refusals)) }

        var deliveries: [HookDelivery] { state.withLock { $0.deliveries } }

        func take(_ delivery: HookDelivery) throws {
            try state.withLock { state in
                state.deliveries.append(delivery)
                guard state.refusals > 0 else { return }
                state.refusals -= 1
                throw Refused()
            }
        }
    }

    private func chore(in delay: Duration) async throws {
        let body = JSONText.object(["title": "Filter", "at": .string((clock.timestamp + delay).description)])
        _ = try await store.create("chores", body: body, at: clock.timestamp)
    }

    private func states() throws -> [Reminder.State] {
        try store.reminders(in: Reminder.State.allCases, after: nil, limit: 10).reminders.map(\.state)
    }

    /// Returns when a reminder has reached a state.
    private func wait(for state: Reminder.State) async throws {
        try await store.until { try states().contains(state) }
    }

    private func running(_ keeper: ReminderKeeper, _ body: () async throws -> Void) async throws {
        try await whileRunning({ try await keeper.run() }, body)
    }

    @Test
    func `it sleeps until the time comes, and the hook delivers once`() async throws {
        try await store.startHooks()
        try await chore(in: .seconds(60))
        try await running(keeper()) {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(60))
            try await wait(for: .due)
        }
        let (deliverer, given) = hook()
        try await deliverer.keepOnce()
        try await deliverer.keepOnce()
        let delivery = try #require(given.deliveries.first)
        #expect(given.deliveries.count == 1)
        #expect(delivery.occurrence.event == .due && delivery.reminder?.text == "Filter")
        #expect(delivery.reminder?.attempts == 1 && delivery.record?["title"] == "Filter")
        #expect(try states() == [.delivered])
    }

    @Test
    func `an earlier reminder wakes it`() async throws {
        try await chore(in: .seconds(3600))
        try await running(keeper()) {
            await clock.waitForSleepers(1)
            try await chore(in: .zero)
            try await wait(for: .due)
        }
        #expect(try states().sorted { $0.rawValue < $1.rawValue } == [.due, .scheduled])
    }

    @Test
    func `a set clock is noticed within a minute`() async throws {
        try await chore(in: .seconds(3600))
        try await running(keeper()) {
            await clock.waitForSleepers(1)
            clock.set(by: .seconds(3600))
            clock.advance(by: .seconds(60))
            try await wait(for: .due)
        }
    }

    @Test
    func `without a delivery a reminder stays due`() async throws {
        try await store.startHooks()
        try await chore(in: .zero)
        try await keeper(delivers: false).keepOnce()
        let (deliverer, given) = hook()
        try await deliverer.keepOnce()
        #expect(given.deliveries.isEmpty)
        #expect(try states() == [.due])
    }

    @Test
    func `a failed delivery is made again with the same key, before the next`() async throws {
        try await store.startHooks()
        try await chore(in: .zero)
        try await chore(in: .zero)
        try await keeper().keepOnce()
        let (deliverer, given) = hook(refusals: 1)
        try await deliverer.keepOnce()
        clock.advance(by: .seconds(2))
        try await deliverer.keepOnce()
        #expect(given.deliveries.map(\.attempt) == [1, 2, 1])
        #expect(Set(given.deliveries.map(\.key)).count == 2)
        #expect(try states() == [.delivered, .delivered])
    }

    @Test
    func `after the last failure a reminder stays due, says why, and is parked`() async throws {
        try await store.startHooks()
        try await chore(in: .zero)
        try await keeper().keepOnce()
        let (deliverer, given) = hook(refusals: 100)
        for _ in 0..<10 {
            try await deliverer.keepOnce()
            clock.advance(by: .seconds(1000))
        }
        #expect(given.deliveries.map(\.attempt) == [1, 2, 3])
        let reminder = try #require(try store.reminders(in: [.due], after: nil, limit: 1).reminders.first)
        #expect(reminder.error?.contains("Refused") == true && reminder.attempts == 3)
        #expect(try store.hookState(HookRule.reminders.name)?.parked == 1)
        #expect(try store.nextReminder() == nil)
    }

    @Test
    func `a reminder that is dismissed before its turn is not delivered, and its failures do not count for the next`()
        async throws
    {
        try await store.startHooks()
        try await chore(in: .zero)
        try await keeper().keepOnce()
        let (deliverer, given) = hook(refusals: 1)
        try await deliverer.keepOnce()
        _ = try await store.write(at: clock.timestamp) { try $0.dismissReminder(1) }
        try await deliverer.keepOnce()
        #expect(given.deliveries.count == 1)
        #expect(try states() == [.dismissed])
        #expect(try store.hookState(HookRule.reminders.name)?.attempts == 0)
        try await chore(in: .zero)
        try await keeper().keepOnce()
        try await deliverer.keepOnce()
        #expect(given.deliveries.map(\.attempt) == [1, 1])
    }

    @Test
    func `a reminder that another daemon has delivered is due here, and not delivered again`() async throws {
        try await store.startHooks()
        try await chore(in: .seconds(-30))
        try await chore(in: .seconds(-10))
        try await keeper().keepOnce(handedOver: clock.timestamp - .seconds(20))
        let (deliverer, given) = hook()
        try await deliverer.keepOnce()
        #expect(given.deliveries.map(\.attempt) == [1])
        #expect(try states().sorted { $0.rawValue < $1.rawValue } == [.delivered, .due])
    }

    @Test
    func `a reminder that was set after the takeover for a time before it is delivered`() async throws {
        try await store.startHooks()
        try await chore(in: .seconds(-30))
        try await running(keeper(deliveredBefore: clock.timestamp - .seconds(10))) {
            try await wait(for: .due)
            await clock.waitForSleepers(1)
            try await chore(in: .seconds(-20))
            while try states() != [.due, .due] { await Task.yield() }
        }
        let (deliverer, given) = hook()
        try await deliverer.keepOnce()
        #expect(given.deliveries.map(\.occurrence.reminder) == [2])
    }

    @Test
    func `a reminder that the former daemon delivered and that is pulled only after the takeover is not repeated`()
        async throws
    {
        try await store.startHooks()
        try await running(keeper(deliveredBefore: clock.timestamp - .seconds(10), isCaughtUp: false)) {
            await clock.waitForSleepers(1)
            try await chore(in: .seconds(-20))
            try await wait(for: .due)
        }
        let (deliverer, given) = hook()
        try await deliverer.keepOnce()
        #expect(given.deliveries.isEmpty)
    }

    @Test
    func `a reminder that was snoozed here is delivered, whatever another daemon has delivered meanwhile`() async throws
    {
        try await store.startHooks()
        try await chore(in: .zero)
        try await keeper(delivers: false).keepOnce()
        _ = try await store.write(at: clock.timestamp) { try $0.snoozeReminder(1, for: .seconds(60)) }
        clock.advance(by: .seconds(200))
        try await keeper().keepOnce(handedOver: clock.timestamp)
        let (deliverer, given) = hook()
        try await deliverer.keepOnce()
        #expect(given.deliveries.count == 1)
    }

    @Test
    func `a reminder that fell due long ago is not delivered`() async throws {
        try await store.startHooks()
        try await chore(in: .seconds(-8 * 86_400))
        try await keeper().keepOnce()
        let (deliverer, given) = hook()
        try await deliverer.keepOnce()
        #expect(given.deliveries.isEmpty)
        #expect(try states() == [.due])
    }
}
