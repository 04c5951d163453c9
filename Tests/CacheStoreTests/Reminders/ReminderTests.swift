import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Reminders in the cache")
struct ReminderTests {
    static let schema = """
        schema: home
        upstream: { base_url: "http://localhost" }
        reminders:
          task_due:
            of: tasks
            at: due
            before: 1h
            text: "{title} is due"
            unless: { status: [completed, skipped] }
            into: { entity: notes, fields: { task_id: record_id, headline: text, at: due_at } }
        entities:
          tasks:
            fields:
              id: { type: string }
              title: { type: string }
              status: { type: string }
              due: { type: time }
            pull: { path: /tasks, deleted: gone }
            push: { create: { call: POST /tasks }, update: { call: "PATCH /tasks/{id}" }, delete: { call: "DELETE /tasks/{id}" } }
          notes:
            local: true
            fields:
              id: { type: string }
              task_id: { type: reference, to: tasks }
              headline: { type: string }
              at: { type: time }
              is_delivered: { type: boolean }
        """

    /// An hour and a half after `TestCache.now`.
    private static let soon = TestCache.now + .seconds(5400)

    private func cache(_ task: String = #"{"id":"a","title":"Filter","due":"DUE"}"#) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema, hooks: [.reminders])
        try await cache.store.startHooks()
        _ = try await cache.pull("tasks", "[\(task.replacing("DUE", with: Self.soon.description))]")
        return cache
    }

    private func all(_ cache: TestCache) throws -> [Reminder] {
        try cache.store.reminders(in: Reminder.State.allCases, after: nil, limit: 10).reminders
    }

    private func keep(_ cache: TestCache, after duration: Duration, delivers: Bool = true) async throws {
        let now = TestCache.now + duration
        while try await cache.store.keepReminders(
            deliveringAfter: delivers ? Timestamp(milliseconds: 0) : nil, at: now)
        {}
    }

    private func set(_ cache: TestCache, _ body: String) async throws {
        try await cache.store.update("tasks", key: "a", body: JSONText(parsing: body), at: TestCache.now)
    }

    @Test
    func `a reminder is due the given time before its record, with the text of the record`() async throws {
        let cache = try await cache()
        let reminder = try #require(try all(cache).first)
        #expect(reminder.dueAt == TestCache.now + .seconds(1800))
        #expect(reminder.text == "Filter is due")
        #expect(reminder.state == .scheduled)
        try await keep(cache, after: .seconds(1799))
        #expect(try all(cache).map(\.state) == [.scheduled])
        try await keep(cache, after: .seconds(1800))
        #expect(try all(cache).map(\.state) == [.due])
        let events = try cache.store.changes(since: 0, filter: ChangeFilter(kinds: [.reminder]), limit: 10).events
        #expect(events.map { $0.document.at(path: "reminder.state") } == ["due"])
    }

    @Test
    func `the change log has the beginning of a long text, the reminder all of it`() async throws {
        let title = String(repeating: "x", count: 5000)
        let cache = try await cache(#"{"id":"a","title":"\#(title)","due":"DUE"}"#)
        try await keep(cache, after: .seconds(1800))
        let events = try cache.store.changes(since: 0, filter: ChangeFilter(kinds: [.reminder]), limit: 10).events
        let text = try #require(events.first?.document.at(path: "reminder.text")?.string)
        #expect(text.utf8.count == 1000 && text.hasPrefix("xxx"))
        #expect(try all(cache).first?.text == "\(title) is due")
    }

    @Test
    func `a queued change moves the reminder in the same transaction`() async throws {
        let cache = try await cache()
        try await keep(cache, after: .seconds(1800))
        try await set(cache, #"{"due":"2030-01-01T10:00:00Z"}"#)
        let reminder = try #require(try all(cache).first)
        #expect(reminder.dueAt.description == "2030-01-01T09:00:00.000Z")
        #expect(reminder.state == .scheduled)
    }

    @Test
    func `another text, or another notation of the same time, moves nothing`() async throws {
        let cache = try await cache()
        try await keep(cache, after: .seconds(1800))
        let spelt = Self.soon.description.replacing("Z", with: "+00:00")
        _ = try await cache.pull("tasks", #"[{"id":"a","title":"Other","due":"\#(spelt)"}]"#)
        let reminder = try #require(try all(cache).first)
        #expect(reminder.state == .due)
        #expect(reminder.text == "Other is due")
    }

    @Test(arguments: [#"{"status":"completed"}"#, #"{"due":null}"#])
    func `a reminder is withdrawn when its record no longer matches`(body: String) async throws {
        let cache = try await cache()
        try await set(cache, body)
        #expect(try all(cache) == [])
    }

    @Test
    func `a reminder is withdrawn when its record is deleted locally or on the server`() async throws {
        let here = try await cache()
        try await here.store.delete("tasks", key: "a", at: TestCache.now)
        #expect(try all(here) == [])
        let there = try await cache()
        _ = try await there.pull("tasks", #"[{"id":"a","gone":true}]"#)
        #expect(try all(there) == [])
        try await keep(there, after: .zero)
        #expect(try there.keys(ListQuery(entity: "notes")) == [])
    }

    @Test
    func `a delivered reminder is not delivered again when its record returns unchanged`() async throws {
        let cache = try await cache()
        try await deliver(cache)
        try await set(cache, #"{"status":"completed"}"#)
        try await set(cache, #"{"status":"open"}"#)
        #expect(try all(cache).map(\.state) == [.delivered])
    }

    private func deliver(_ cache: TestCache) async throws {
        try await keep(cache, after: .seconds(1800))
        try await finish(cache, event(cache), .delivered(earlier: []))
    }

    /// What is next for the hook that delivers reminders.
    private func event(_ cache: TestCache) throws -> HookOccurrence? {
        let position = try cache.store.hookState(HookRule.reminders.name)?.position ?? 0
        return try cache.store.nextOccurrence(for: .reminders, after: position, at: TestCache.now).occurrence
    }

    private func finish(_ cache: TestCache, _ event: HookOccurrence?, _ outcome: HookOutcome) async throws {
        let now = TestCache.now + .seconds(1800)
        try await cache.store.finishHook(HookRule.reminders.name, try #require(event), outcome, at: now)
    }

    @Test
    func `a reminder of a mirror that was changed, with the greatest number of attempts, is delivered like any other`()
        async throws
    {
        let cache = try await cache().reopened(schema: Self.schema)
        try await cache.store.startHooks()
        let stored = """
            {"rule": "task_due", "record_id": "a", "due_at": \((Self.soon - .seconds(3600)).milliseconds), "state": "due",
              "next_at": 1, "delivered_at": -9223372036854775808, "attempts": 9223372036854775807}
            """
        try await cache.store.importReminders([JSONText(parsing: stored)])
        let started = try cache.reopened(schema: Self.schema, hooks: [.reminders])
        try await started.store.startHooks()
        try await deliver(started)
        #expect(try all(started).map(\.state) == [.delivered])
    }

    @Test(arguments: ["\"paused\"", "7", "null"])
    func `a reminder of a mirror in a state that none has stays as its record has it`(state: String) async throws {
        let cache = try await cache().reopened(schema: Self.schema)
        let before = try all(cache)
        let stored = """
            {"rule": "task_due", "record_id": "a", "due_at": \((Self.soon - .seconds(3600)).milliseconds), "state": \(state),
              "next_at": null, "delivered_at": null, "attempts": 5}
            """
        try await cache.store.importReminders([JSONText(parsing: stored)])
        #expect(try all(cache) == before && !before.isEmpty)
    }

    @Test
    func `a delivery that ends after its reminder was dismissed changes nothing`() async throws {
        let cache = try await cache()
        try await keep(cache, after: .seconds(1800))
        let begun = try event(cache)
        let id = try #require(begun?.reminder)
        _ = try await cache.store.write(at: TestCache.now) { try $0.dismissReminder(id) }
        #expect(try event(cache) == nil)
        try await finish(cache, begun, .delivered(earlier: []))
        #expect(try all(cache).map(\.state) == [.dismissed])
    }

    @Test
    func `a reminder that falls due is one event of its record, and one that is snoozed comes again as another`()
        async throws
    {
        let cache = try await cache()
        try await keep(cache, after: .seconds(1800))
        let first = try #require(try event(cache))
        #expect(first.event == .due && first.entity == "tasks" && first.key == "a")
        #expect(try cache.store.reminder(of: first)?.text == "Filter is due")
        let id = try #require(first.reminder)
        _ = try await cache.store.write(at: TestCache.now) { try $0.snoozeReminder(id, for: .seconds(60)) }
        #expect(try event(cache) == nil)
        #expect(try cache.store.reminder(of: first) == nil)
        try await keep(cache, after: .seconds(3600))
        let second = try #require(try event(cache))
        #expect(second.reminder == id && second.seq > first.seq)
        try await finish(cache, first, .delivered(earlier: []))
        #expect(try all(cache).map(\.state) == [.due])
    }

    @Test
    func `a failed delivery stands in the reminder, and a parked one is delivered when someone retries it`()
        async throws
    {
        let cache = try await cache()
        let name = HookRule.reminders.name
        try await keep(cache, after: .seconds(1800))
        let due = try event(cache)
        try await finish(cache, due, .failed("no paper", retryAt: TestCache.now))
        #expect(try all(cache).map(\.error) == ["no paper"])
        #expect(try event(cache) == due)
        try await finish(cache, due, .parked("no ink"))
        #expect(try all(cache).map { "\($0.state) \($0.attempts) \($0.error ?? "")" } == ["due 2 no ink"])
        #expect(try event(cache) == nil)
        try await cache.store.write(at: TestCache.now) { try $0.retryHook(name, nil) }
        let parked = try #require(try cache.store.parkedToRetry(name))
        #expect(try cache.store.reminder(of: parked.occurrence) != nil)
        try await cache.store.finishParked(name, parked, problem: nil, at: TestCache.now)
        #expect(try all(cache).map(\.state) == [.delivered])
    }

    @Test
    func `a reminder that was due and not delivered is an event again for a hook that starts`() async throws {
        let cache = try await cache()
        try await keep(cache, after: .seconds(1800))
        // As an older version and a configuration without delivery leave it.
        let without = try cache.reopened(schema: Self.schema)
        try await without.store.startHooks()
        let again = try without.reopened(schema: Self.schema, hooks: [.reminders])
        try await again.store.startHooks()
        #expect(try event(again) == nil)
        try await keep(again, after: .seconds(1801))
        try await finish(again, event(again), .delivered(earlier: []))
        #expect(try all(again).map(\.state) == [.delivered])
    }

    @Test
    func `a reminder that comes back before it was delivered is an event again`() async throws {
        let cache = try await cache()
        try await keep(cache, after: .seconds(1800))
        try await set(cache, #"{"status":"completed"}"#)
        #expect(try event(cache) == nil)
        try await cache.store.moveHook(HookRule.reminders.name, to: cache.store.position())
        try await set(cache, #"{"status":"open"}"#)
        try await keep(cache, after: .seconds(1801))
        #expect(try event(cache)?.event == .due)
    }

    @Test
    func `what the hook has missed in the change log falls due again, but not what was skipped`() async throws {
        let cache = try await cache()
        let name = HookRule.reminders.name
        try await keep(cache, after: .seconds(1800))
        let due = try #require(try event(cache))
        let missed = HookOccurrence(event: .missed, seq: due.seq, at: TestCache.now, missedFrom: 1)
        try await finish(cache, missed, .delivered(earlier: []))
        #expect(try event(cache) == nil)
        try await keep(cache, after: .seconds(1801))
        try await finish(cache, event(cache), .failed("no", retryAt: TestCache.now))
        try await cache.store.write(at: TestCache.now) { try $0.skipHook(name) }
        try await finish(cache, missed, .delivered(earlier: []))
        #expect(try all(cache).map(\.state) == [.due])
    }

    @Test
    func `a snoozed reminder returns, a dismissed one does not`() async throws {
        let cache = try await cache()
        let id = try #require(try all(cache).first).id
        await #expect(throws: CacheError.self) {
            _ = try await cache.store.write(at: TestCache.now) { try $0.snoozeReminder(id, for: .seconds(60)) }
        }
        try await keep(cache, after: .seconds(1800))
        let later = TestCache.now + .seconds(1900)
        let snoozed = try await cache.store.write(at: later) { try $0.snoozeReminder(id, for: .seconds(600)) }
        #expect(snoozed.snoozedUntil == later + .seconds(600))
        try await keep(cache, after: .seconds(2499))
        #expect(try all(cache).map(\.state) == [.snoozed])
        try await keep(cache, after: .seconds(2500))
        #expect(try all(cache).map(\.state) == [.due])
        _ = try await cache.store.write(at: later) { try $0.dismissReminder(id) }
        try await keep(cache, after: .seconds(1_000_000))
        #expect(try all(cache).map(\.state) == [.dismissed])
    }

    @Test
    func `a date without a time is due at the configured time of day`() async throws {
        let cache = try await cache(#"{"id":"a","title":"Filter","due":"2027-03-01"}"#)
        #expect(try all(cache).map(\.dueAt.description) == ["2027-03-01T08:00:00.000Z"])
    }

    @Test
    func `a record represents each reminder and follows it`() async throws {
        let cache = try await cache()
        try await keep(cache, after: .zero)
        let key = try #require(try cache.keys(ListQuery(entity: "notes")).first)
        let note = try #require(try cache.record("notes", key))
        #expect(note["task_id"] == "a")
        #expect(note["headline"] == "Filter is due")
        #expect(note["is_delivered"] == .boolean(false))
        try await set(cache, #"{"title":"Boiler"}"#)
        try await deliver(cache)
        try await keep(cache, after: .seconds(1800))
        #expect(try cache.record("notes", key)?["headline"] == "Boiler is due")
        #expect(try cache.record("notes", key)?["is_delivered"] == .boolean(true))
        try await set(cache, #"{"status":"skipped"}"#)
        try await keep(cache, after: .seconds(1800))
        #expect(try cache.keys(ListQuery(entity: "notes")) == [])
    }

    @Test
    func `a task keeps its reminder when the server gives it another key`() async throws {
        let cache = try TestCache(schema: Self.schema)
        let due = Self.soon.description
        _ = try await cache.store.create("tasks", body: .object(["due": .string(due)]), at: TestCache.now)
        let id = try #require(try all(cache).first).id
        let change = try await cache.begun()
        let record = JSONText.object(["id": "tsk_1", "due": .string(due)])
        try await cache.store.finish(change.id, .acknowledged(record: record, version: nil), at: TestCache.now)
        let reminder = try #require(try all(cache).first)
        #expect(reminder.id == id)
        #expect(reminder.key == "tsk_1")
    }

    @Test
    func `a changed rule takes effect at the next start, and delivered reminders stay delivered`() async throws {
        let cache = try await cache()
        try await deliver(cache)
        let reopened = try cache.reopened(schema: Self.schema.replacing("before: 1h", with: "before: 30m"))
        #expect(try all(reopened).map(\.state) == [.delivered])
        #expect(try all(reopened).map(\.dueAt) == [TestCache.now + .seconds(3600)])
    }
}
