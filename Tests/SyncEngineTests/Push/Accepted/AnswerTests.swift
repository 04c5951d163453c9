import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What becomes of a change whose answer has no record, or was not recognised.
@Suite("An answer without a record")
struct AnswerTests {
    private static let deleting = TestEngine.shop.replacing(
        #"update: { call: "PATCH /orders/{id}" }"#,
        with: #"update: { call: "PATCH /orders/{id}" }"# + "\n" + #"      delete: { call: "DELETE /orders/{id}" }"#)

    private func test(_ yaml: String = TestEngine.shop) async throws -> TestEngine {
        try await .with(orders: #"[{"id":"a","notes":"n","total":1}]"#, yaml)
    }

    private let unrecognised = UpstreamError.unclear(status: 200, "PATCH answered 200 without saying …")

    // MARK: Accepted

    @Test("a creation answered with a job becomes the record that the job has made")
    func job() async throws {
        let test = try await test(TestEngine.shopWithLookUp)
        let key = try await test.create()
        try test.upstream.answerLater(#"{"id":"job-77","state":"queued"}"#, times: 1)
        try await test.send()
        #expect(try test.error() == "accepted")
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","total":1},{"id":"b","notes":"new"}]"#)
        try await test.send(after: .seconds(5))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.record(key)?["id"] == "b" && test.store.rowCounts()["orders"] == 2)
    }

    @Test(
        "an edit answered with nothing stays queued while neither its record nor the list is answered in JSON",
        arguments: [true, false], [true, false])
    func emptyOfGateway(isListServed: Bool, seemsGone: Bool) async throws {
        let test = try await test()
        try await test.store.setSetting("single:orders", to: "served")
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.answerEmpty(times: 1)
        // As 204 to everything says.
        if seemsGone { test.upstream.hide("a") } else { test.upstream.failRecords(.malformed("no JSON")) }
        if !isListServed { test.upstream.failList("/orders", .malformed("no JSON")) }
        try await test.send()
        #expect(try test.store.pendingCount().pending == (isListServed ? 0 : 1))
        #expect(try test.error() == (isListServed ? nil : "malformed"))
    }

    @Test(
        "a deletion answered with 200 and nothing stays queued while the list is not answered in JSON",
        arguments: [true, false])
    func deletionByGateway(isListServed: Bool) async throws {
        let test = try await test(Self.deleting)
        try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        test.upstream.answerSilently()
        if !isListServed { test.upstream.failList("/orders", .malformed("no JSON")) }
        try await test.send()
        #expect(try test.store.pendingCount().pending == (isListServed ? 0 : 1))
        #expect(try test.error() == (isListServed ? nil : "malformed"))
    }

    @Test("without a look-up, the key in the answer is believed")
    func keyOfLater() async throws {
        let test = try await test()
        let key = try await test.create()
        try test.upstream.answerLater(#"{"id":"b"}"#, times: 1)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record(key)?["id"] == "b")
    }

    @Test("#18 a creation accepted without its key is looked up and never sent again")
    func lookedUp() async throws {
        for isListed in [true, false] {
            let test = try await test(TestEngine.shopWithLookUp)
            _ = try await test.create()
            test.upstream.answerEmpty(times: 9)
            test.upstream.failList("/orders", isListed ? nil : .unclear(status: 503, "down"))
            try await test.send()
            #expect(try test.store.pendingCount().pending == (isListed ? 0 : 1))
            if !isListed { #expect(try test.error() == "accepted") }
            test.upstream.failList("/orders", nil)
            try await test.send()
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
            #expect(test.upstream.pushes.count == 1)
            #expect(try test.record("server-1")?["notes"] == "new")
        }
    }

    @Test(
        "#18 a creation that was accepted and is never listed is left to a person, not sent again, also after failed look-ups",
        arguments: [1, 2])
    func neverListed(_ failures: Int) async throws {
        let test = try await test(TestEngine.shopWithLookUp)
        _ = try await test.create()
        test.upstream.answerEmpty(times: 9)
        test.upstream.failList("/orders", .unclear(status: 503, "down"))
        for _ in 1...failures { try await test.send() }
        #expect(try test.error() == "accepted")
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","total":1}]"#)
        test.upstream.failList("/orders", nil)
        for _ in 1...9 {
            test.clock.advance(by: .seconds(30))
            try await test.send()
        }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "unclear")
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("a creation without a record is repeated under its key while the record cannot be read")
    func notReadable() async throws {
        let test = try await test()
        let key = try await test.create()
        test.upstream.answerEmpty(times: 2)
        test.upstream.failRecords(.malformed("no"))
        try await test.send()
        try await test.send()
        #expect(try test.store.pending(PendingQuery(limit: 1)).changes.first?["retry_count"] == 1)
        test.clock.advance(by: .seconds(60))
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(Set(test.upstream.pushes.map(\.key)).count == 1)
        #expect(try test.record(key)?["id"] == "server-1" && test.store.rowCounts()["orders"] == 2)
    }

    @Test("an edit accepted without the record is followed by one read of the record")
    func editWithoutRecord() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","total":2}]"#)
        test.upstream.answerEmpty(times: 1)
        try await test.send()
        #expect(test.upstream.recordRequests == 1)
        #expect(try test.record("a")?["notes"] == "mine" && test.record("a")?["total"] == 2)
    }

    @Test("an edit answered with a stub of the record is too, and one answered with more is not")
    func editWithStub() async throws {
        for (answer, reads) in [
            (#"{"id":"a"}"#, 1), (#"{"id":"a","message":"Updated","success":true}"#, 1),
            (#"{"id":"a","notes":"mine"}"#, 0),
            (#"{"id":"a","total":2}"#, 0),
        ] {
            let test = try await test()
            try await test.change("a", #"{"notes":"mine "}"#)
            try test.upstream.set("/orders", #"[{"id":"a","notes":"mine","total":2}]"#)
            try test.upstream.answer(answer, times: 1, applying: false)
            try await test.send()
            #expect(test.upstream.recordRequests == reads, "\(answer)")
            #expect(try reads == 0 || test.record("a")?["notes"] == "mine" && test.record("a")?["message"] == nil)
        }
    }

    @Test("a status that may be the answer's own does not take the place of the one that was sent")
    func ownStatus() async throws {
        let yaml = TestEngine.shop.replacing(
            "      notes: { type: string }\n", with: "      notes: { type: string }\n      status: { type: string }\n")
        let test = try await TestEngine.with(orders: #"[{"id":"a","notes":"n","status":"open","total":1}]"#, yaml)
        try await test.change("a", #"{"status":"closed"}"#)
        try test.upstream.answer(#"{"id":"a","status":"success"}"#, times: 1)
        try await test.send()
        #expect(try test.record("a")?["status"] == "closed")
        let key = try await test.create(#"{"notes":"new","status":"open"}"#)
        try test.upstream.answer(#"{"id":"server-1","status":"success"}"#, times: 1)
        try await test.send()
        #expect(try test.record(key)?["id"] == "server-1" && test.record(key)?["status"] == "open")
        #expect(test.upstream.pushes.count == 2)
    }

    @Test("an edit accepted without the record stands if the record cannot be read", arguments: [true, false])
    func editNotReadable(_ isMissing: Bool) async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.answerEmpty(times: 1)
        if isMissing {
            test.upstream.failRecords(.unclear(status: 500, "no"))
        } else {
            test.upstream.onPush { [upstream = test.upstream] in upstream.failRecords(.malformed("no")) }
        }
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a")?["notes"] == "mine" && test.record("a")?["total"] == 1)
    }

    @Test("an envelope with a key of another record does not take the new record's place")
    func envelope() async throws {
        let test = try await test(TestEngine.shopWithLookUp)
        _ = try await test.create()
        try test.upstream.answer(#"{"jsonrpc":"2.0","id":"a","result":7}"#, times: 1)
        try await test.send()
        #expect(try test.record("a")?["notes"] == "n", "the record that was there before")
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("server-1")?["notes"] == "new", "found by its values")
    }

    @Test("nor does one with the key of a record that the upstream no longer has")
    func envelopeOfGone() async throws {
        let test = try await test(TestEngine.shopWithLookUp)
        _ = try await test.create()
        try test.upstream.set("/orders", "[]")
        try test.upstream.answer(#"{"id":"a","result":7}"#, times: 1)
        try await test.send()
        #expect(try test.record("a")?["notes"] == "n", "a pull decides about it")
        #expect(try test.record("server-1")?["notes"] == "new")
    }

    @Test("a creation answered with a record that was there before and has other values does not become that record")
    func oldRecord() async throws {
        for (isMade, lookUp) in [(true, true), (false, true), (true, false), (false, false)] {
            let test = try await test(lookUp ? TestEngine.shopWithLookUp : TestEngine.shop)
            let key = try await test.create()
            try test.upstream.answer(#"{"id":"a","notes":"n","total":1}"#, times: 9, applying: isMade)
            for number in 0...6 { try await test.send(after: .seconds(600 * number)) }
            let isFound = isMade && lookUp
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: isFound ? 0 : 1))
            #expect(try test.record("a")?["notes"] == "n")
            #expect(try test.record(key)?["id"].map { $0 == "server-1" } == isFound)
            #expect(test.upstream.pushes.count == 1)
            guard !isFound else { continue }
            #expect(try test.error() == "unclear")
            if !lookUp { #expect(try test.error("message")?.contains("orders/a") == true) }
            try await test.change(key, #"{"notes":"edited"}"#)
            try await test.send(after: .seconds(6000))
            #expect(test.upstream.records("/orders").first?["notes"] == "n", "nor is that edited")
        }
    }

    @Test("an answer of a known record with all that was sent is an upsert")
    func upsert() async throws {
        let test = try await test()
        let key = try await test.create(#"{"notes":"n"}"#)
        try test.upstream.answer(#"{"id":"a","notes":"n","total":2}"#, times: 1, applying: false)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record(key)?["id"] == "a" && test.record("a")?["total"] == 2)
    }

    @Test("an answer of another value counts if a pull brought the new record before it")
    func pulledAnswer() async throws {
        let test = try await test()
        let key = try await test.create()
        try test.upstream.answer(#"{"id":"server-1","notes":"new, as theirs"}"#, times: 1)
        test.upstream.onPush { [store = test.store, now = test.clock.timestamp] in
            _ = try? await store.apply(
                PulledPage(entity: "orders", records: #"[{"id":"server-1","notes":"new, as theirs"}]"#), at: now)
        }
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(try test.record(key)?["id"] == "server-1" && test.store.rowCounts()["orders"] == 2)
    }

    @Test("a creation answered with its key alone has the server's members at once")
    func keyAlone() async throws {
        let test = try await test()
        _ = try await test.create()
        try test.upstream.answer(#"{"id":"server-1"}"#, times: 1)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("server-1")?["notes"] == "new")
    }

    @Test("an edit answered with another record, which the record itself does not show, fails and is not repeated")
    func another() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.answer(#"{"id":"z","notes":"mine"}"#, times: 9, applying: false)
        for _ in 1...3 { try await test.send(after: .seconds(600)) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "unclear")
        #expect(try test.record("a")?["notes"] == "mine")
        #expect(test.upstream.pushes.count == 1)
    }

    // MARK: Not recognised

    @Test("#1 an edit with an unrecognised answer is done if the record shows it, else it is repeated")
    func unrecognisedEdit() async throws {
        for isApplied in [true, false] {
            let test = try await test()
            try await test.change("a", #"{"notes":"mine"}"#)
            test.upstream.fail(unrecognised, afterApplying: isApplied)
            try await test.send()
            #expect(try test.store.pendingCount().pending == (isApplied ? 0 : 1))
            #expect(try test.record("a")?["notes"] == "mine")
            try await test.send()
            #expect(test.upstream.pushes.count == (isApplied ? 1 : 2))
            #expect(test.upstream.records("/orders").first?["notes"] == "mine")
        }
    }

    @Test("an edit whose answer is no success, and unclear, is repeated under its key", arguments: [300, 500])
    func unclearEdit(_ status: Int) async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.unclear(status: status, "PATCH answered \(status)"), afterApplying: true)
        try await test.send()
        #expect(try test.error() == "server")
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(Set(test.upstream.pushes.map(\.key)).count == 1 && test.upstream.pushes.count == 2)
    }

    @Test("an edit answered with nothing, of a record that is gone, is kept as a conflict and not repeated for ever")
    func unrecognisedEditOfGone() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.set("/orders", #"[{"id":"b","notes":"n"}]"#)
        test.upstream.fail(unrecognised, times: 9)
        for _ in 1...3 { try await test.send(after: .seconds(600)) }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a") == nil)
        #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.count == 1)
    }

    @Test("#1 a deletion with an unrecognised answer is done if the record is gone, else it is repeated")
    func unrecognisedDeletion() async throws {
        for isApplied in [true, false] {
            let test = try await test(Self.deleting)
            let both = #"[{"id":"a","notes":"n"},{"id":"b","notes":"n"}]"#
            try test.upstream.set("/orders", both)
            _ = try await test.store.apply(PulledPage(entity: "orders", records: both), at: test.clock.timestamp)
            try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
            test.upstream.fail(unrecognised, afterApplying: isApplied)
            try await test.send()
            #expect(try test.store.pendingCount().pending == (isApplied ? 0 : 1))
            try await test.send()
            #expect(try test.store.pendingCount().pending == 0)
            #expect(test.upstream.pushes.count == (isApplied ? 1 : 2))
            #expect(test.upstream.records("/orders").map { $0["id"] } == ["b"])
        }
    }

    @Test("#1 a creation with unrecognised answers is repeated under its key, and kept in the end")
    func unrecognisedCreation() async throws {
        let test = try await test()
        _ = try await test.create()
        test.upstream.fail(unrecognised, afterApplying: true, times: 9)
        for _ in 1...5 { try await test.send() }
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error("message") == unrecognised.message)
        #expect(Set(test.upstream.pushes.map(\.key)).count == 1)
        #expect(test.upstream.records("/orders").count == 2)
    }

    // MARK: A change that replaces the record

    @Test("#12 PUT reads the record first, and sends what others have changed since")
    func replaces() async throws {
        let test = try await test(TestEngine.shop.replacing("PATCH /orders", with: "PUT /orders"))
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","total":2,"by":"them"}]"#)
        try await test.send()
        #expect(
            test.upstream.pushes.map { $0.request.body?.text }
                == [#"{"id":"a","notes":"mine","total":2,"by":"them"}"#])
        #expect(try test.store.pendingCount().pending == 0)
        #expect(try test.record("a")?["by"] == "them")
    }

    @Test("#12 the queue shows the whole record that PUT will send")
    func showsReplacement() async throws {
        let test = try await test(TestEngine.shop.replacing("PATCH /orders", with: "PUT /orders"))
        try await test.change("a", #"{"notes":"mine"}"#)
        let change = try #require(try test.store.pending(PendingQuery(limit: 1)).changes.first)
        #expect(change.at(path: "request.body")?.text == #"{"id":"a","notes":"mine","total":1}"#)
    }
}
