import JSONText
import SQLiteStore
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("Batches")
struct BatchTests {
    private static let refused = #"{"operation":"update","entity":"orders","id":"a","body":{"status":"lost"}}"#
    private static let change = #"{"operation":"update","entity":"orders","id":"b","body":{"notes":"x"}}"#

    @Test("creations, changes and deletions of several entities are done in their order")
    func order() async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch([
            #"{"operation":"create","entity":"clients","body":{"id":"c","name":"Ada"}}"#,
            #"{"operation":"update","entity":"orders","id":"a","body":{"client_id":"c","notes":"1"}}"#,
            #"{"operation":"update","entity":"orders","id":"a","body":{"notes":"2"}}"#,
            #"{"operation":"replace","entity":"orders","id":"d","body":{"status":"open"}}"#,
            #"{"operation":"replace","entity":"orders","id":"d","body":{"status":"ready"}}"#,
            #"{"operation":"delete","entity":"orders","id":"b"}"#,
        ])
        #expect(answer.status == 200 && answer.json["failed"] == 0)
        #expect(answer.statuses == [201, 200, 200, 201, 200, 204])
        #expect(answer.results.map { $0["id"]?.string } == ["c", "a", "a", "d", "d", "b"])
        #expect(answer.results[1]["record"]?["notes"] == "1" && answer.results[2]["record"]?["notes"] == "2")
        #expect(answer.results[2]["etag"]?.string == (await api.call("GET", "/v1/orders/a")).header("ETag"))
        #expect(await api.call("GET", "/v1/orders/b").status == 404)
        #expect(try api.queue().map { $0["operation"]?.string } == ["create", "update", "create", "delete"])
    }

    @Test("a batch is atomic unless it says otherwise: one refused operation undoes all, and each is listed")
    func atomic() async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch([
            Self.change, Self.refused, #"{"operation":"create","entity":"clients","body":{"colour":1}}"#,
            #"{"operation":"update","entity":"orders","id":"none","body":{}}"#,
            #"{"operation":"delete","entity":"messages","id":"m"}"#,
        ])
        #expect(answer.status == 422 && answer.json["code"] == "batch_refused")
        #expect(answer.header("Content-Type") == "application/problem+json")
        #expect(
            answer.pointers == [
                "/operations/1/body/status", "/operations/2/body/colour", "/operations/2/body/name", "/operations/3",
                "/operations/4",
            ])
        let codes = (answer.json["errors"]?.elements ?? []).map { $0["code"]?.string }
        #expect(codes == ["unknown_value", "unknown_field", "missing_field", "not_cached", "method_not_allowed"])
        #expect(try api.queue().isEmpty)
        #expect(await api.call("GET", "/v1/orders/b").json["notes"] == nil)
    }

    @Test("in a batch that is not atomic a refused operation has its own problem, and the others are done")
    func apart() async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch(
            [Self.refused, Self.change, #"{"operation":"delete","entity":"messages","id":"m"}"#],
            more: #","atomic":false"#)
        #expect(answer.status == 200 && answer.json["failed"] == 2)
        #expect(answer.statuses == [422, 200, 405])
        let problem = try #require(answer.results[0]["problem"])
        #expect(problem["code"] == "invalid_fields" && problem["status"] == 422)
        #expect(answer.results[0].pointers == ["/operations/0/body/status"])
        #expect(try api.queue().map { $0["record_id"]?.string } == ["b"])
    }

    @Test("a hundred mistakes of all operations are listed, and the first of each that is refused by itself")
    func manyMistakes() async throws {
        let api = try await BatchShop.filled()
        let fields = (0..<60).map { "\"x\($0)\":1" }.joined(separator: ",")
        let refused = #"{"operation":"update","entity":"orders","id":"a","body":{\#(fields)}}"#
        let atomic = await api.batch([refused, refused, refused])
        #expect(atomic.status == 422 && atomic.pointers.count == 100)
        #expect(atomic.pointers.last == "/operations/1/body/x39")
        let apart = await api.batch([refused, refused, refused, Self.change], more: #","atomic":false"#)
        #expect(apart.statuses == [422, 422, 422, 200])
        #expect(apart.results.map { $0.pointers.count } == [60, 40, 1, 0])
        let detail = apart.results[2]["problem"]?["detail"]?.string ?? ""
        #expect(detail.hasPrefix("x0: ") && detail.hasSuffix("; and 59 more"), "\(detail)")
    }

    @Test("an operation that is refused after it has changed something leaves nothing behind, and the others are done")
    func undone() async throws {
        let api = try await BatchShop.filled()
        // The message is hidden with its order, so there is no record to show, and its creation is refused.
        let answer = await api.batch(
            [
                Self.change, #"{"operation":"delete","entity":"orders","id":"a"}"#,
                #"{"operation":"create","entity":"messages","body":{"order_id":"a","text":"t"}}"#,
                #"{"operation":"update","entity":"orders","id":"b","body":{"total":1.50}}"#,
            ], more: #","atomic":false"#)
        #expect(answer.statuses == [200, 204, 404, 200])
        #expect(try api.queue().map { $0["entity"]?.string } == ["orders", "orders"])
        #expect(await api.call("GET", "/v1/orders/b").json["notes"] == "x")
        #expect(await api.call("GET", "/v1/orders/b").json["total"]?.text == "1.50")
        #expect(try api.store.inconsistencies() == [])
    }

    @Test("another caller's write in the same transaction survives a refused batch")
    func neighbours() async throws {
        let api = try await BatchShop.filled()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for number in 1...20 {
                group.addTask {
                    await api.call("PATCH", "/v1/orders/a", body: #"{"notes":"\#(number)"}"#).status
                }
                group.addTask { await api.batch([Self.change, Self.refused]).status }
            }
            return await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: 20, 422: 20])
        #expect(try api.queue().map { $0["record_id"]?.string } == ["a"])
    }

    @Test("what single writes check is checked: versions, secrets, read-only fields, deny rules, deleted records")
    func checked() async throws {
        let api = try await BatchShop.filled()
        let tag = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        let condition = JSONText.string(tag).text
        let answer = await api.batch(
            [
                #"{"operation":"update","entity":"orders","id":"a","body":{"notes":"1"},"if_match":\#(condition)}"#,
                #"{"operation":"update","entity":"orders","id":"a","body":{"notes":"2"},"if_match":\#(condition)}"#,
                #"{"operation":"delete","entity":"orders","id":"a","if_match":\#(condition)}"#,
                #"{"operation":"replace","entity":"orders","id":"new","body":{},"if_match":"*"}"#,
                #"{"operation":"update","entity":"orders","id":"a","body":{"id":"z"}}"#,
                #"{"operation":"update","entity":"orders","id":"a","body":{"passcode":1}}"#,
                #"{"operation":"create","entity":"clients","body":{"id":"c","name":"Ada"}}"#,
                #"{"operation":"create","entity":"orders","body":{"client_id":"c"}}"#,
                #"{"operation":"delete","entity":"clients","id":"c"}"#,
                #"{"operation":"delete","entity":"orders","id":"b"}"#,
                #"{"operation":"update","entity":"orders","id":"b","body":{"notes":"1"}}"#,
                #"{"operation":"create","entity":"orders","body":{"id":"a"}}"#,
                #"{"operation":"create","entity":"stores","body":{}}"#,
            ], more: #","atomic":false"#)
        #expect(answer.statuses == [200, 412, 412, 412, 422, 422, 201, 201, 409, 204, 404, 409, 404])
        let codes = answer.results.map { $0["problem"]?["code"]?.string }
        #expect(codes[1] == "version_mismatch" && codes[10] == "not_found" && codes[12] == "unknown_entity")
        #expect(!answer.text.contains("passcode\":"))
    }

    @Test("merge merges objects into the record's, as a merge patch does")
    func merge() async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch([
            #"{"operation":"update","entity":"orders","id":"a","body":{"extra":{"x":1,"y":2}}}"#,
            #"{"operation":"update","entity":"orders","id":"a","body":{"extra":{"x":null}},"merge":true}"#,
        ])
        #expect(answer.results.last?["record"]?["extra"]?.text == #"{"y":2}"#)
    }

    @Test("records are left out once they would take more than 8 MiB, and have an etag all the same")
    func large() async throws {
        let api = try await BatchShop.filled()
        let long = String(repeating: "x", count: 900_000)
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"notes":"\#(long)"}"#)
        let change = #"{"operation":"update","entity":"orders","id":"a","body":{"total":1.00}}"#
        let answer = await api.batch(Array(repeating: change, count: 12))
        #expect(answer.statuses.allSatisfy { $0 == 200 })
        #expect(answer.results.count { $0["record"] != nil } == 9)
        #expect(answer.results.allSatisfy { $0["etag"] != nil && $0["id"] == "a" })
    }

    @Test("operations that read more of records than one batch may are refused as a whole, and one alone is not")
    func largeRecords() async throws {
        let api = try await BatchShop.filled()
        let long = String(repeating: "x", count: 100_000)
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"notes":"\#(long)"}"#)
        let operations = (1...5).map { number in
            #"{"operation":"update","entity":"orders","id":"a","body":{"total":\#(number).00}}"#
        }
        func run(_ count: Int, mostRead: Int, isAtomic: Bool = true) throws -> BatchRun {
            let body = #"{"operations":[\#(operations.prefix(count).joined(separator: ","))]}"#
            return BatchRun(
                batch: try BatchRequest(JSONText(parsing: body), api.store.schema), handlers: api.api.handlers,
                isTracked: false, isMinimal: true, throwsRefusals: isAtomic, mostRead: mostRead)
        }
        for isAtomic in [true, false] {
            let tooLarge = try run(5, mostRead: 350_000, isAtomic: isAtomic)
            let problem = await #expect(throws: Problem.self) {
                try await api.store.write(at: TestAPI.now) { try tooLarge.run($0) }
            }
            #expect(problem?.status == 413 && problem?.detail.contains("send fewer operations") == true)
            #expect(await api.call("GET", "/v1/orders/a").json["total"]?.text == "129.90")
        }
        for (count, mostRead) in [(5, 1_000_000), (1, 10)] {
            let fitting = try run(count, mostRead: mostRead)
            #expect(try await api.store.write(at: TestAPI.now) { try fitting.run($0) }.failed == 0)
        }
    }

    @Test("with return=minimal results have only status and id, and the same operations are refused")
    func minimal() async throws {
        let api = try await BatchShop.filled()
        let operations = [
            Self.change, #"{"operation":"delete","entity":"orders","id":"a"}"#,
            #"{"operation":"create","entity":"messages","body":{"order_id":"a","text":"t"}}"#,
        ]
        let answer = await api.batch(operations, more: #","atomic":false"#, headers: ["Prefer": "return=minimal"])
        #expect(answer.header("Preference-Applied") == "return=minimal")
        #expect(answer.statuses == [200, 204, 404])
        #expect(answer.results[0].text == #"{"status":200,"id":"b"}"#)
        #expect(try api.queue().count == 2)
    }

    @Test("a thousand operations are done, and none of an empty batch")
    func many() async throws {
        let api = try await BatchShop.filled()
        let creation = #"{"operation":"create","entity":"orders","body":{"notes":"many"}}"#
        let answer = await api.batch(Array(repeating: creation, count: 1000))
        #expect(answer.status == 200 && answer.results.count == 1000 && answer.json["failed"] == 0)
        #expect(await api.call("GET", "/v1/orders?q=many&count=true&limit=1").json["total"] == 1000)
        #expect(await api.batch([]).json.text == #"{"failed":0,"results":[]}"#)
    }
}
