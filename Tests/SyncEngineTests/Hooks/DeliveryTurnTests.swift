import CacheStore
import EntitySchema
import JSONText
import Logging
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Hooks and reminders of two daemons that share an account")
struct DeliveryTurnTests {
    private static let schema = """
        schema: home
        upstream: { base_url: "http://localhost" }
        reminders: { chore: { of: chores, at: at, text: "{title}" } }
        entities:
          chores:
            local: true
            fields: { id: { type: string }, title: { type: string }, at: { type: time } }
          orders:
            fields: { id: { type: string } }
            pull: { path: /orders }
        """
    private static let rules = [
        HookRule(name: "told", events: [.created], entity: "chores"),
        HookRule(name: "orders", events: [.created], entity: "orders"),
    ]

    private struct Unreachable: Error {}

    /// What all daemons see, and whose turn it is.
    private final class Account: Sendable {
        private struct State {
            var marks = DeliveryMarks()
            var (isOwn, isReachable) = (false, true)
            var begun: [Timestamp?] = []
            var ended = 0
        }

        private let state = Mutex(State())
        let changed = ChangeSignal()

        var marks: DeliveryMarks { state.withLock { $0.marks } }
        var isOwn: Bool { state.withLock { $0.isOwn } }
        var begun: [Timestamp?] { state.withLock { $0.begun } }
        var ended: Int { state.withLock { $0.ended } }

        func give(_ isOwn: Bool) {
            state.withLock { $0.isOwn = isOwn }
            changed.announce()
        }

        func connect(_ isReachable: Bool) { state.withLock { $0.isReachable = isReachable } }
        func save(_ marks: DeliveryMarks) { state.withLock { $0.marks = marks } }

        func load() throws -> DeliveryMarks {
            try state.withLock { state in
                guard state.isReachable else { throw Unreachable() }
                return state.marks
            }
        }

        func begin(_ before: Timestamp?) { state.withLock { $0.begun.append(before) } }
        func end() { state.withLock { $0.ended += 1 } }
    }

    private let clock = ManualClock()
    private let store: CacheStore
    private let parsed: EntitySchema
    private let account = Account()

    init() async throws {
        parsed = try EntitySchema(yaml: Self.schema, file: "home.yaml")
        store = try CacheStore.temporary(parsed, hooks: Self.rules)
        try await store.startHooks()
    }

    private var turn: DeliveryTurn {
        DeliveryTurn(
            store, parsed,
            shared: DeliveryTurn.Shared(
                load: { [account] in try account.load() }, save: { [account] in account.save($0) }),
            isOwn: { [account] in account.isOwn }, changed: account.changed, pulled: { [:] }, deliversReminders: true,
            now: { [clock] in clock.timestamp }, clock: clock,
            log: .silent)
    }

    /// Runs a turn whose deliveries last until they are cancelled.
    private func running(_ body: () async throws -> Void) async throws {
        let delivers = { @Sendable [account, clock, turn] in
            try await turn.run { before in
                account.begin(before)
                defer { account.end() }
                try await clock.sleep(for: .seconds(86_400))
            }
        }
        try await whileRunning(delivers, body)
    }

    private func chore(_ id: String, at time: Timestamp? = nil) async throws {
        let body = JSONText.object(["id": .string(id), "title": "x"])
        let whole = time.map { body.setting("at", to: .string($0.description)) } ?? body
        _ = try await store.create("chores", body: whole, at: clock.timestamp)
    }

    private func position() throws -> Int64 { try #require(try store.hookState("told")).position }

    private func end() throws -> Int64 { try store.position() }

    @Test("nothing is delivered before the turn begins, and no longer once it has ended")
    func turns() async throws {
        try await running {
            while account.changed.waiterCount == 0 { await Task.yield() }
            #expect(account.begun.isEmpty)
            account.give(true)
            while account.begun.isEmpty { await Task.yield() }
            account.give(false)
            while account.ended < 1 { await Task.yield() }
            account.give(true)
            while account.begun.count < 2 { await Task.yield() }
        }
        #expect(account.ended == 2)
    }

    @Test("a hook goes on where the former daemon ended, with a minute for clocks that differ")
    func takingUp() async throws {
        try await chore("a")
        let first = try end()
        clock.advance(by: .seconds(100))
        try await chore("b")
        account.save(DeliveryMarks(hooks: ["told": clock.timestamp + .seconds(60), "gone": clock.timestamp]))
        account.give(true)
        try await running {
            while account.begun.isEmpty { await Task.yield() }
            let now = try position()
            #expect(now == first)
        }
        #expect(account.marks.hooks["gone"] == clock.timestamp)
    }

    @Test("a hook that is further than the former daemon's mark stays where it is")
    func further() async throws {
        try await chore("a")
        try await store.moveHook("told", to: try end())
        account.save(DeliveryMarks(hooks: ["told": clock.timestamp - .seconds(500)]))
        account.give(true)
        try await running {
            while account.begun.isEmpty { await Task.yield() }
            let (now, last) = (try position(), try end())
            #expect(now == last)
        }
    }

    @Test("nothing is delivered before it is known how far the former daemon was")
    func unknown() async throws {
        account.connect(false)
        account.give(true)
        try await running {
            await clock.waitForSleepers(1)
            #expect(account.begun.isEmpty)
            account.connect(true)
            clock.advance(by: .seconds(1))
            while account.begun.isEmpty { await Task.yield() }
        }
    }

    @Test("a hook's mark moves only while it has nothing left to deliver")
    func marks() async throws {
        var progress = DeliveryProgress(after: DeliveryMarks(), schema: parsed, deliversReminders: false)
        try progress.update(store, pulled: [:], at: clock.timestamp)
        let start = clock.timestamp
        #expect(progress.marks.hooks == ["told": start])
        clock.advance(by: .seconds(10))
        try await chore("a")
        try progress.update(store, pulled: [:], at: clock.timestamp)
        #expect(progress.marks.hooks == ["told": start])
        try await store.moveHook("told", to: try end())
        try progress.update(store, pulled: [:], at: clock.timestamp)
        #expect(progress.marks.hooks == ["told": clock.timestamp])
    }

    @Test("the mark of a hook of the upstream's records is the end of the last pull but one")
    func pulls() throws {
        var progress = DeliveryProgress(after: DeliveryMarks(), schema: parsed, deliversReminders: false)
        let times = (0..<3).map { clock.timestamp + .seconds($0 * 60) }
        for (time, mark) in zip(times, [nil, times[0], times[1]]) {
            for _ in 1...2 { try progress.update(store, pulled: ["orders": time], at: times[2]) }
            #expect(progress.marks.hooks["orders"] == mark)
        }
    }

    @Test("the mark of reminders moves only while none is due and not delivered")
    func reminders() async throws {
        var progress = DeliveryProgress(after: DeliveryMarks(), schema: parsed, deliversReminders: true)
        let start = clock.timestamp
        try progress.update(store, pulled: [:], at: start)
        try await chore("a", at: start + .seconds(10))
        clock.advance(by: .seconds(20))
        try progress.update(store, pulled: [:], at: clock.timestamp)
        #expect(progress.marks.reminders == start)
        while try await store.keepReminders(deliveringAfter: nil, at: clock.timestamp) {}
        try progress.update(store, pulled: [:], at: clock.timestamp)
        #expect(progress.marks.reminders == clock.timestamp)
    }

    @Test("the mark of the hook of reminders waits for those that are due and not yet its events")
    func remindersHook() async throws {
        let store = try CacheStore.temporary(parsed, hooks: [.reminders])
        try await store.startHooks()
        let body = JSONText.object(["id": "a", "title": "x", "at": .string(clock.timestamp.description)])
        _ = try await store.create("chores", body: body, at: clock.timestamp)
        clock.advance(by: .seconds(100))
        var progress = DeliveryProgress(after: DeliveryMarks(), schema: parsed, deliversReminders: true)
        try progress.update(store, pulled: [:], at: clock.timestamp)
        #expect(progress.marks == DeliveryMarks())
        while try await store.keepReminders(deliveringAfter: nil, at: clock.timestamp) {}
        try progress.update(store, pulled: [:], at: clock.timestamp)
        #expect(progress.marks == DeliveryMarks(hooks: ["reminders": clock.timestamp], reminders: clock.timestamp))
    }

    @Test("the marks of reminders of the upstream's records move only after a pull in this turn")
    func remindersOfPulled() throws {
        let text = Self.schema.replacing(
            "of: chores, at: at, text: \"{title}\"", with: "of: orders, at: at, text: \"{id}\""
        )
        .replacing("fields: { id: { type: string } }", with: "fields: { id: { type: string }, at: { type: time } }")
        let schema = try EntitySchema(yaml: text, file: "home.yaml")
        let store = try CacheStore.temporary(schema, hooks: [])
        var progress = DeliveryProgress(after: DeliveryMarks(), schema: schema, deliversReminders: true)
        let start = clock.timestamp
        try progress.update(store, pulled: ["orders": start], at: start)
        #expect(progress.marks.reminders == nil)
        try progress.update(store, pulled: ["orders": start + .seconds(60)], at: start + .seconds(60))
        #expect(progress.marks.reminders == start + .seconds(60))
    }

    @Test("reminders begin a minute before the former daemon's mark")
    func remindersBefore() async throws {
        account.save(DeliveryMarks(reminders: clock.timestamp))
        account.give(true)
        try await running { while account.begun.isEmpty { await Task.yield() } }
        #expect(account.begun == [clock.timestamp - .seconds(60)])
    }

    @Test("marks are stored during a turn, and can be read again")
    func storing() async throws {
        account.give(true)
        try await running { while account.marks == DeliveryMarks() { await Task.yield() } }
        let marks = account.marks
        #expect(marks == DeliveryMarks(hooks: ["told": clock.timestamp], reminders: clock.timestamp))
        #expect(DeliveryMarks(marks.text) == marks)
        #expect(DeliveryMarks("[") == DeliveryMarks())
    }
}
