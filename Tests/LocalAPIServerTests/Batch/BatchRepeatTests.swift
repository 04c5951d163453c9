import EntitySchema
import JSONText
import SQLiteStore
import SocketServer
import TestSupport
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("Repeated batches, and batches that wait")
struct BatchRepeatTests {
    private static let key: [String: String?] = ["Idempotency-Key": "k"]
    private static let creation = #"{"operation":"create","entity":"clients","lid":"ada","body":{"name":"Ada"}}"#
    private static let order = #"{"operation":"create","entity":"orders","body":{"client_id":{"lid":"ada"}}}"#
    private static let refused = #"{"operation":"update","entity":"orders","id":"a","body":{"status":"lost"}}"#
    private static let change = #"{"operation":"update","entity":"orders","id":"a","body":{"notes":"x"}}"#
    private static let deletion = #"{"operation":"delete","entity":"orders","id":"b"}"#

    @Test("a repeat gets the answer of the first, refused operations included, and does nothing")
    func repeated() async throws {
        let api = try await BatchShop.filled()
        let operations = [Self.creation, Self.order, Self.refused, Self.deletion]
        let first = await api.batch(operations, more: #","atomic":false"#, headers: Self.key)
        #expect(first.statuses == [201, 201, 422, 204])
        let count = try api.queue().count
        _ = await api.batch([Self.change])
        let again = await api.batch(operations, more: #","atomic":false"#, headers: Self.key)
        #expect(again.text == first.text && again.status == 200)
        #expect(try api.queue().count == count + 1)
    }

    @Test("the answer survives a restart")
    func restarted() async throws {
        let folder = try TemporaryFolder()
        let schema = try EntitySchema(yaml: BatchShop.schema, file: "shop.yaml")
        var answers: [String] = []
        for _ in 1...2 {
            let store = try CacheStore.temporary(schema, in: folder)
            let api = try TestAPI(store: store)
            answers.append(await api.batch([Self.creation, Self.order], headers: Self.key).text)
            #expect(try api.queue().count == 2)
            try store.close()
        }
        #expect(answers[0] == answers[1])
    }

    @Test("of many concurrent repeats one is done, and all get its answer")
    func atOnce() async throws {
        let api = try await BatchShop.filled()
        let answers = await withTaskGroup(of: String.self) { group in
            for _ in 1...20 { group.addTask { await api.batch([Self.creation], headers: Self.key).text } }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
        #expect(try api.queue().count == 1)
    }

    @Test("another body under the same key is refused, and a refused batch keeps no answer")
    func otherBody() async throws {
        let api = try await BatchShop.filled()
        #expect(await api.batch([Self.creation, Self.refused], headers: Self.key).status == 422)
        #expect(await api.batch([Self.creation], headers: Self.key).status == 200)
        let other = await api.batch([Self.change], headers: Self.key)
        #expect(other.status == 422 && other.json["code"] == "idempotency_key_reused")
    }

    @Test("a stored answer that cannot be read gets 503")
    func unreadable() async throws {
        let api = try await BatchShop.filled()
        let body = #"{"operations":[\#(Self.change)]}"#
        let call = RepeatableCall(key: "k", request: Array("POST\n/v1/_batch\n\n\(body)".utf8))
        _ = try await api.store.write(once: call, at: TestAPI.now) { _ in #"{"results":[{"status":200}]}"# }
        #expect(await api.batch([Self.change], headers: Self.key).status == 503)
    }

    /// Makes and settles the next attempt.
    private static func finish(_ api: TestAPI, _ outcome: PushOutcome) async throws {
        while api.store.signal.waiterCount < 1 { await Task.yield() }
        let change = try #require(api.store.readyChanges(limit: 1, at: TestAPI.now).first)
        #expect(try await api.store.begin(change, at: TestAPI.now))
        try await api.store.finish(change.id, outcome, at: TestAPI.now)
    }

    @Test("a batch that waits says for each operation what became of it")
    func waits() async throws {
        let api = try await BatchShop.filled()
        async let answer = api.batch(
            [Self.change, Self.refused, Self.deletion, Self.creation], more: #","atomic":false"#,
            query: "?wait=pushed&timeout=60")
        try await Self.finish(
            api, .acknowledged(record: JSONText(parsing: #"{"id":"a","status":"ready","notes":"x","total":2.00}"#)))
        try await Self.finish(api, .acknowledged(record: nil))
        try await Self.finish(api, .failed(PushFailure(.refused, status: 422, message: "no")))
        #expect(await answer.status == 202)
        #expect(await answer.statuses == [200, 422, 204, 202])
        let results = await answer.results
        #expect(results[0]["record"]?["total"]?.text == "2.00")
        #expect(results[0]["record"]?["_sync"]?["state"] == "synced")
        #expect(results[3]["record"]?["_sync"]?["push"]?["state"] == "failed")
    }

    @Test("only so many batches wait at once; the next gets 503 before it does anything", .timeLimit(.minutes(10)))
    func limit() async throws {
        let api = try TestAPI(yaml: BatchShop.schema, places: 1)
        async let first = api.batch([Self.creation], query: "?wait=pushed&timeout=60")
        while api.store.signal.waiterCount < 1 { await Task.yield() }
        let second = await api.batch([Self.creation], headers: ["Prefer": "wait=60"])
        #expect(second.status == 503 && second.header("Retry-After") != nil)
        #expect(try api.queue().count == 1)
        #expect(await api.batch([Self.creation]).status == 200)
        try await Self.finish(api, .acknowledged(record: JSONText(parsing: #"{"id":"srv","name":"Ada"}"#)))
        #expect(await first.status == 200)
        #expect(api.api.handlers.places.waitingBatches.openCount == 0)
    }

    @Test("while a caller waits, the records of its queued writes are not kept")
    func dropped() throws {
        func result(_ queued: String) -> String {
            #"{"status":200,"entity":"orders","key":"a","tag":"t","record":"{}","queued":\#(queued)}"#
        }
        let queued = #"{"operation":"update","key":"a","changes":[1],"fields":["notes"],"position":0,"conflict":0}"#
        var results = try BatchResults(
            stored: JSONText(parsing: #"{"results":[\#(result(queued)),\#(result("null"))]}"#))
        results.dropRecords()
        let records = results.all.map { result -> [UInt8]? in
            guard case .written(let write) = result else { return nil }
            return write.record
        }
        #expect(records == [nil, Array("{}".utf8)])
        var written = Written(result: .json(Array("{}".utf8)))
        written.dropRecord()
        #expect(written.result.status == 204)
    }

    @Test("confirmed operations keep their status, and a new record shows the key that the upstream gave it")
    func confirmed() async throws {
        let api = try await BatchShop.filled()
        async let answer = api.batch([Self.creation], headers: ["Prefer": "wait=60"])
        try await Self.finish(api, .acknowledged(record: JSONText(parsing: #"{"id":"srv","name":"Ada"}"#)))
        #expect(await answer.status == 200)
        #expect(await answer.header("Preference-Applied") == "wait=60")
        #expect(await answer.statuses == [201])
        #expect(await answer.results[0]["id"] == "srv")
    }

    @Test("after the timeout each pending operation has its place in the queue, and a repeat waits again")
    func timeUp() async throws {
        let api = try await BatchShop.filled(clock: FastClock())
        for _ in 1...2 {
            let answer = await api.batch(
                [Self.change, Self.deletion], query: "?wait=pushed&timeout=60", headers: Self.key)
            #expect(answer.status == 202 && answer.statuses == [202, 202])
            let pushes = answer.results.map { $0["record"]?["_sync"]?["push"] }
            #expect(pushes.map { $0?["state"] } == ["pending", "pending"])
            #expect(pushes.map { $0?["position"]?.integer } == [1, 2])
        }
        #expect(try api.queue().count == 2)
    }
}
