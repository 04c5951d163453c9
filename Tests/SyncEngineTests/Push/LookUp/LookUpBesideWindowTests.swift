import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Looking up a lost creation of which the cache keeps only a window")
struct LookUpBesideWindowTests {
    /// The finding for a creation with the notes "new", sent two minutes ago, when the list shows one record with them.
    ///
    /// `isOpen`: whether that record is inside the window. `age`: how long before now it was changed; nil if it has no time.
    /// `byDay`: its time is the day alone.
    private func finding(
        isOpen: Bool, age: Duration?, byDay: Bool = false, where window: String = #", where: { open: "yes" }"#,
        path: String = ""
    ) async throws -> CreateReconciler.Finding {
        let test = try TestPull(
            "since: { param: since, field: updated_at, overlap: 10s }\(window)",
            create: "call: POST /orders, look_up: { match: [notes]\(path) }"
        ) { $0.replacing("notes: { type: string }", with: "notes: { type: string }\n      open: { type: string }") }
        let now = test.clock.timestamp
        _ = try await test.store.create("orders", body: .object(["notes": "new", "open": "yes"]), at: now)
        var change = try #require(try test.store.readyChanges(limit: 1, at: now).first)
        change.lastAttemptAt = now - .seconds(120)
        var members: [(key: String, value: JSONText)] = [
            ("id", "a"), ("notes", "new"), ("open", isOpen ? "yes" : "no"),
        ]
        if let age {
            let time = (now - age).description
            members.append(("updated_at", .string(byDay ? String(time.prefix(10)) : time)))
        }
        let list = JSONText.array([.object(members: members)])
        test.upstream.answering { _ in .success(Page(records: list, count: 1, next: nil)) }
        let orders = try #require(test.schema["orders"])
        let reader = RecordReader(schema: test.schema, store: test.store, upstream: test.upstream)
        let reconciler = CreateReconciler(reader: reader, now: now, clockOffset: .zero, monotonicNow: { now })
        return try await reconciler.finding(for: change, orders)
    }

    @Test("a record that was last changed before the attempt may have been outside the window, so a person decides")
    func earlier() async throws {
        for isOpen in [true, false] {
            guard case .unknowable = try await finding(isOpen: isOpen, age: .seconds(86_400)) else {
                Issue.record("a record from before the attempt counts as the created one, open: \(isOpen)")
                continue
            }
        }
    }

    @Test("a record that was changed since the attempt is the created one, also outside the window")
    func later() async throws {
        for isOpen in [true, false] {
            guard case .applied = try await finding(isOpen: isOpen, age: .seconds(119)) else {
                Issue.record("the created record is not found, open: \(isOpen)")
                continue
            }
        }
    }

    @Test("a change time that is the day of the attempt says nothing: a record inside the window is the created one")
    func day() async throws {
        guard case .applied = try await finding(isOpen: true, age: .seconds(125), byDay: true) else {
            Issue.record("the created record is not found")
            return
        }
        guard case .unknowable = try await finding(isOpen: false, age: .seconds(125), byDay: true) else {
            Issue.record("a record outside the window counts as the created one")
            return
        }
    }

    @Test(
        "a look-up's own path may show what the list leaves out: a record from over a day before the attempt is left to a person"
    )
    func archived() async throws {
        func find(_ age: Duration) async throws -> CreateReconciler.Finding {
            try await finding(isOpen: true, age: age, where: "", path: #", path: "/orders?archived=1""#)
        }
        guard case .unknowable = try await find(.seconds(90_000)), case .applied = try await find(.seconds(80_000))
        else {
            Issue.record("an archived record counts as the created one, or none does")
            return
        }
    }

    @Test("without a change time, only a record inside the window is the created one")
    func timeless() async throws {
        guard case .applied = try await finding(isOpen: true, age: nil) else {
            Issue.record("the created record is not found")
            return
        }
        guard case .unknowable = try await finding(isOpen: false, age: nil) else {
            Issue.record("a record outside the window counts as the created one")
            return
        }
    }
}
