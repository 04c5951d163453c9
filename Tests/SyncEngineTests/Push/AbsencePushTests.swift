import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What a change does when the upstream answers that there is no such record.
@Suite("Changes of records that seem to be gone")
struct AbsencePushTests {
    private static let yaml = TestEngine.shop.replacing(
        #"      update: { call: "PATCH /orders/{id}" }"#,
        with: """
                  update: { call: "PATCH /orders/{id}" }
                  delete: { call: "DELETE /orders/{id}" }
            """)

    private let notFound = UpstreamError.gone(status: 404, "not found")

    private func test(_ yaml: String = yaml) async throws -> TestEngine {
        try await .with(orders: #"[{"id":"a","notes":"n"},{"id":"b","notes":"n"},{"id":"c","notes":"n"}]"#, yaml)
    }

    private func send(_ test: TestEngine, after delay: Duration = .seconds(600)) async throws {
        try await test.send(after: delay)
    }

    private func attempts(_ test: TestEngine) throws -> [Int] {
        try test.store.pending(PendingQuery(limit: 9)).changes.map { $0["retry_count"]?.integer ?? -1 }
    }

    /// How the attempts ended, as watchers see it.
    private func ends(_ test: TestEngine) throws -> [String] {
        let kinds = ChangeFilter(kinds: [.waiting, .failed, .acknowledged, .discarded])
        return try test.store.changes(since: 0, filter: kinds, limit: 9).events.map(\.kind)
    }

    @Test("#2 a gateway that answers 404 to everything loses nothing, and counts nothing")
    func gateway() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.change("b", #"{"notes":"mine"}"#)
        try await test.store.delete("orders", key: "c", at: test.clock.timestamp)
        test.upstream.fail(notFound, times: 12)
        test.upstream.failList("/orders", notFound)
        test.upstream.hideRecords(true)
        for _ in 1...4 { try await send(test) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 3, failed: 0))
        #expect(try attempts(test) == [0, 0, 0])
        #expect(try test.record("a")?["notes"] == "mine")
        test.upstream.clearFailures()
        test.upstream.failList("/orders", nil)
        test.upstream.hideRecords(false)
        try await send(test, after: .seconds(1200))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").prefix(2).map { $0["notes"] } == ["mine", "mine"])
    }

    /// A change of an order, and an upstream whose answers to all reads are lost.
    private func unreadable(_ operation: Operation) async throws -> TestEngine {
        let test = try await test()
        if operation == .create {
            _ = try await test.store.create("orders", body: .object(["notes": "mine"]), at: test.clock.timestamp)
        } else {
            try await test.change("c", #"{"notes":"mine"}"#)
        }
        loseReads(.unclear(status: nil, "cut off"), test)
        return test
    }

    /// Nil ends it.
    private func loseReads(_ error: UpstreamError?, _ test: TestEngine) {
        test.upstream.failRecords(error)
        test.upstream.failList("/orders", error)
    }

    @Test(
        "404 to a change says nothing while no witness can be read: it is not counted, and waits longer each time",
        arguments: [Operation.create, .update])
    func unreadWitness(_ operation: Operation) async throws {
        let test = try await unreadable(operation)
        var waits: [Duration] = []
        for _ in 1...16 {
            test.upstream.fail(notFound)
            try await test.send(random: 0.5)
            let wait = try #require(try test.store.nextAttempt()).since(test.clock.timestamp)
            waits.append(wait)
            test.clock.advance(by: wait)
        }
        #expect(waits.first == .seconds(3) && waits.last == .seconds(300) && waits == waits.sorted())
        #expect(try attempts(test) == [0])
        #expect(try test.error("message") == "not found; whether that is so is not known: cut off")
        loseReads(nil, test)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").last?["notes"] == "mine")
    }

    @Test(
        "nor does the next 404 fail the change if the outage ends before the witness is read",
        arguments: [Operation.create, .update])
    func witnessReadAsOutageEnds(_ operation: Operation) async throws {
        let test = try await unreadable(operation)
        test.upstream.fail(notFound, times: 2)
        try await test.send()
        loseReads(nil, test)
        for _ in 1...2 {
            test.clock.advance(by: .seconds(60))
            try await test.send()
        }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").last?["notes"] == "mine")
    }

    @Test("404s to a change do not fail it while a gateway repeats the record from before")
    func repeatedRecord() async throws {
        for repeats in [true, false] {
            let test = try await test()
            try await test.change("c", #"{"notes":"mine"}"#)
            test.upstream.repeatRecords(repeats)
            test.upstream.fail(notFound, times: 2)
            for delay in [600, 661] { try await send(test, after: .seconds(delay)) }
            #expect(try test.store.pendingCount() == PendingCount(pending: repeats ? 1 : 0, failed: repeats ? 0 : 1))
        }
    }

    @Test("#3 a token that expires into empty lists drops no edit and acknowledges no deletion")
    func expired() async throws {
        let test = try await test()
        try await test.store.setAccount("company-1", at: test.clock.timestamp)
        test.upstream.setAccount("nobody")
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.store.delete("orders", key: "c", at: test.clock.timestamp)
        test.upstream.fail(notFound, times: 8)
        try test.upstream.set("/orders", "[]")
        for _ in 1...4 { try await send(test) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 2, failed: 0))
        #expect(try attempts(test) == [0, 0])
        let errors = try test.store.pending(PendingQuery(limit: 9)).changes.map { $0.at(path: "error.status") }
        #expect(errors == [404, 404], "what the upstream answered to the changes")
        #expect(try test.record("a")?["notes"] == "mine")
    }

    @Test("a deletion that is answered with 404 is done when the record is gone and another one is there")
    func deleted() async throws {
        let test = try await test()
        try await test.store.delete("orders", key: "c", at: test.clock.timestamp)
        test.upstream.fail(notFound)
        try test.upstream.set("/orders", #"[{"id":"a"},{"id":"b"}]"#)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try ends(test) == ["acknowledged"])
    }

    @Test("410 to a deletion says that it is done, though the record is still shown; 410 to an edit does not")
    func markedAsDeleted() async throws {
        let test = try await test()
        try await test.store.delete("orders", key: "c", at: test.clock.timestamp)
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.gone(status: 410, "deleted"), times: 2)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try test.store.pending(PendingQuery(limit: 1)).changes.first?["record_id"] == "a")
        #expect(try Set(ends(test)) == ["acknowledged", "waiting"])
    }

    @Test(
        "404s fail a change only once the upstream has settled, as it may still show a record that is gone",
        arguments: [true, false])
    func shownLate(_ isGone: Bool) async throws {
        for operation in [Operation.update, .delete] {
            let test = try await test()
            if operation == .update {
                try await test.change("c", #"{"notes":"mine"}"#)
            } else {
                try await test.store.delete("orders", key: "c", at: test.clock.timestamp)
            }
            for delay in [600, 612, 624] {
                test.upstream.fail(notFound)
                try await send(test, after: .seconds(delay))
                #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
            }
            #expect(try test.error("message")?.contains("may be behind") == true)
            if isGone { try test.upstream.set("/orders", #"[{"id":"a"},{"id":"b"}]"#) }
            test.upstream.fail(notFound)
            try await send(test, after: .seconds(661))
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: isGone ? 0 : 1))
        }
    }

    @Test("a deletion whose answer was lost does not fail at 404s while the upstream settles")
    func lostDeletion() async throws {
        let test = try await test()
        try await test.store.delete("orders", key: "c", at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: nil, "the answer was lost"), times: 1)
        try await send(test)
        for delay in [612, 624, 636] {
            test.upstream.fail(notFound, times: 1)
            try await send(test, after: .seconds(delay))
            #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        }
        test.upstream.fail(notFound, times: 1)
        try await send(test, after: .seconds(661))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
    }

    @Test("an edit of a new record that was not shown yet does not fail at the first 404 after that")
    func unseenBefore() async throws {
        let test = try await test()
        _ = try await test.create()
        try await test.send()
        try await test.change("server-1", #"{"notes":"mine"}"#)
        test.upstream.hideRecords(true)
        test.upstream.fail(notFound, times: 2)
        try await test.send()
        #expect(try test.error() == "unseen")
        test.upstream.hideRecords(false)
        try await test.send(after: .seconds(90))
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try attempts(test) == [1])
        try await send(test)
        #expect(test.upstream.records("/orders").last?["notes"] == "mine")
    }

    @Test("an edit of a new record waits while a part of the upstream that is behind does not know the record")
    func unknownToSome() async throws {
        let test = try await test()
        _ = try await test.create()
        try await test.send()
        try await test.change("server-1", #"{"notes":"mine"}"#)
        test.upstream.fail(notFound, times: 3)
        for _ in 1...3 {
            try await test.send()
            #expect(try test.error() == "unseen")
            test.clock.advance(by: .seconds(15))
        }
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").last?["notes"] == "mine")
    }

    @Test("a record whose own address is gone while the list has it keeps its edit")
    func listedOnly() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.hide("a")
        test.upstream.fail(notFound, times: 2)
        for _ in 1...2 { try await send(test) }
        #expect(try test.store.pendingCount().pending == 1)
        #expect(try test.record("a")?["notes"] == "mine")
        let change = try #require(try test.store.pending(PendingQuery(limit: 1)).changes.first)
        #expect(change.at(path: "error.message")?.string?.contains("the list of orders has it") == true)
        try await send(test)
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
    }

    @Test("#6 where only lists are served, 409 keeps the edit and its record, and the server's words")
    func locked() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.hideRecords(true)
        test.upstream.fail(.changed(status: 409, "locked"), times: 3)
        for _ in 1...3 { try await send(test) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.record("a")?["notes"] == "mine")
        let change = try #require(try test.store.pending(PendingQuery(limit: 1)).changes.first)
        #expect(change.at(path: "error.message")?.string?.contains("locked") == true)
    }

    @Test("#6 where only lists are served, 404 to an edit drops neither it nor a record that is listed")
    func listed() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.hideRecords(true)
        test.upstream.fail(notFound)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        try await send(test)
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
    }

    @Test("#6 where only lists are served, a deletion refused with 409 is not reported as done")
    func refusedDeletion() async throws {
        let test = try await test()
        try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        test.upstream.hideRecords(true)
        test.upstream.fail(.changed(status: 409, "it has an invoice"), times: 3)
        for _ in 1...3 { try await send(test) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
    }

    @Test("where only lists are served, a record that two readings of the list lack is gone")
    func notListed() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.hideRecords(true)
        test.upstream.fail(notFound)
        try test.upstream.set("/orders", #"[{"id":"b"},{"id":"c"}]"#)
        try await send(test)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a") == nil)
        #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.count == 1)
    }

    @Test("a whole record is not sent when it is gone, as some servers would make it again", arguments: [true, false])
    func whole(_ isGone: Bool) async throws {
        let test = try await test(Self.yaml.replacing("PATCH /orders", with: "PUT /orders"))
        try await test.change("a", #"{"notes":"mine"}"#)
        if isGone { try test.upstream.set("/orders", #"[{"id":"b","notes":"n"},{"id":"c","notes":"n"}]"#) }
        try await test.send(after: .seconds(61))
        #expect(test.upstream.pushes.count == (isGone ? 0 : 1))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect((try test.record("a") == nil) == isGone)
    }

    @Test("a record that a list has just brought is not taken for gone by a server that is behind")
    func justCame() async throws {
        let test = try await test(Self.yaml.replacing("PATCH /orders", with: "PUT /orders"))
        try await test.change("a", #"{"notes":"mine"}"#)
        let all = JSONText.array(test.upstream.records("/orders")).text
        try test.upstream.set("/orders", #"[{"id":"b","notes":"n"},{"id":"c","notes":"n"}]"#)
        for delay in [20, 40] { try await send(test, after: .seconds(delay)) }
        #expect(test.upstream.pushes.isEmpty)
        #expect(try test.error() == "unseen")
        #expect(try attempts(test) == [0])
        #expect(try test.record("a")?["notes"] == "mine")
        try test.upstream.set("/orders", all)
        try await send(test, after: .seconds(55))
        #expect(test.upstream.pushes.count == 1)
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
        #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
    }

    @Test("reading a record that the upstream hides behind 404s keeps it, and says why")
    func refreshed() async throws {
        let test = try await test()
        let orders = try #require(test.store.schema["orders"])
        test.upstream.hideRecords(true)
        test.upstream.failList("/orders", notFound)
        guard case .unavailable = await test.engine.refresh(orders, key: "a") else {
            Issue.record("it should be unavailable")
            return
        }
        #expect(try test.record("a") != nil)
        test.upstream.failList("/orders", nil)
        #expect(await test.engine.refresh(orders, key: "a") == .stored, "the list shows it")
        test.upstream.hideRecords(false)
        try test.upstream.set("/orders", #"[{"id":"b"},{"id":"c"}]"#)
        guard case .unavailable = await test.engine.refresh(orders, key: "a") else {
            Issue.record("one read is believed")
            return
        }
        #expect(try test.record("a") != nil)
        test.clock.advance(by: .seconds(61))
        #expect(await test.engine.refresh(orders, key: "a") == .absent)
        #expect(try test.record("a") == nil)
    }

    @Test("a repeated edit of a record that only its list shows counts as applied, not as one of a record that is gone")
    func editOnlyListed() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        test.upstream.hideRecords(true)
        test.upstream.answerEmpty(times: 1)
        let (now, gone) = (test.clock.timestamp + .seconds(600), Counter())
        var pusher = test.pusher(at: now, callableSince: now)
        pusher.noteEnd = { _, outcome in if case .vanished = outcome { gone.next() } }
        for change in try test.store.readyChanges(limit: 9, at: now) { _ = try await pusher.send(change) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(gone.count == 0)
    }
}
