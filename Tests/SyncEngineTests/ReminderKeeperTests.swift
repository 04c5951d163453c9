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

    private struct Refused: Error {}

    /// Receives deliveries: keeps each reminder, and refuses a given number first.
    private final class Recipient: Sendable {
        private let state: Mutex<(received: [Int], refusals: Int)>

        init(refusals: Int = 0) { state = Mutex((received: [], refusals: refusals)) }

        var attempts: [Int] { state.withLock { $0.received } }

        func receive(_ reminder: Reminder) throws {
            try state.withLock { state in
                state.received.append(reminder.attempts)
                guard state.refusals > 0 else { return }
                state.refusals -= 1
                throw Refused()
            }
        }
    }

    private let clock = ManualClock()
    private let store: CacheStore

    init() throws {
        store = try CacheStore.temporary(EntitySchema(yaml: Self.schema, file: "home.yaml"))
    }

    private func keeper(_ recipient: Recipient? = nil) -> ReminderKeeper {
        let deliver: ReminderKeeper.Delivery? = recipient.map { recipient in { @Sendable in try recipient.receive($0) }
        }
        return ReminderKeeper(
            store: store, deliver: deliver, now: { clock.timestamp }, clock: clock,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
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
        while true {
            let commits = store.signal.commits
            if try states().contains(state) { return }
            await store.signal.wait(after: commits)
        }
    }

    private func running(_ keeper: ReminderKeeper, _ body: () async throws -> Void) async throws {
        let task = Task { try await keeper.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        task.cancel()
        _ = await task.result
        try result.get()
    }

    @Test
    func `it sleeps until the time comes, and delivers once`() async throws {
        try await chore(in: .seconds(60))
        let recipient = Recipient()
        try await running(keeper(recipient)) {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(60))
            try await wait(for: .delivered)
        }
        try await keeper(recipient).keepOnce()
        #expect(recipient.attempts == [1])
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
        try await chore(in: .zero)
        try await keeper().keepOnce()
        #expect(try states() == [.due])
    }

    @Test
    func `a failed delivery is retried later, under the same id`() async throws {
        try await chore(in: .zero)
        let recipient = Recipient(refusals: 1)
        let keeper = keeper(recipient)
        try await keeper.keepOnce()
        clock.advance(by: .seconds(9))
        try await keeper.keepOnce()
        #expect(recipient.attempts == [1])
        clock.advance(by: .seconds(1))
        try await keeper.keepOnce()
        #expect(recipient.attempts == [1, 2])
        #expect(try states() == [.delivered])
    }

    @Test
    func `after the last failure a reminder stays due, and says why`() async throws {
        try await chore(in: .zero)
        let recipient = Recipient(refusals: 100)
        let keeper = keeper(recipient)
        for _ in 0..<10 {
            try await keeper.keepOnce()
            clock.advance(by: .seconds(1000))
        }
        #expect(recipient.attempts == [1, 2, 3, 4, 5])
        let reminder = try #require(try store.reminders(in: [.due], after: nil, limit: 1).reminders.first)
        #expect(reminder.error?.contains("Refused") == true)
    }

    @Test
    func `an interrupted delivery is repeated at the start`() async throws {
        try await chore(in: .zero)
        while try await store.keepReminders(deliveringAfter: Timestamp(milliseconds: 0), at: clock.timestamp) {}
        let id = try #require(try store.dueDeliveries(at: clock.timestamp, limit: 1).first)
        _ = try await store.beginDelivery(id, retryAt: clock.timestamp + .seconds(3600))
        let recipient = Recipient()
        try await running(keeper(recipient)) { try await wait(for: .delivered) }
        #expect(recipient.attempts == [2])
    }

    @Test
    func `a reminder that fell due long ago is not delivered`() async throws {
        try await chore(in: .seconds(-8 * 86_400))
        let recipient = Recipient()
        try await keeper(recipient).keepOnce()
        #expect(recipient.attempts == [])
        #expect(try states() == [.due])
    }
}
