import CacheStore
import EntitySchema
import JSONText
import SocketServer
import Synchronization
import TestSupport
import Testing

@testable import LocalAPIServer

/// Lists in a format that has the whole list.
@Suite("Whole lists")
struct WholeListTests {
    /// 1,200 orders, which are more than a page has.
    private static func large() async throws -> TestAPI {
        let api = try TestAPI()
        let records = (0..<1200).map { number in
            #"{"id":"o\#(1000 + number)","status":"\#(number % 2 == 0 ? "open" : "ready")","total":\#(number).50}"#
        }
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: "[\(records.joined(separator: ","))]"), at: TestAPI.now)
        return api
    }

    @Test("a list of lines has every record of the list, in its order")
    func lines() async throws {
        let api = try await Self.large()
        let answer = await api.call("GET", "/v1/orders?sort=id", headers: ["Accept": "application/x-ndjson"])
        #expect(answer.status == 200 && answer.header("Content-Type") == "application/x-ndjson")
        #expect(answer.header("Cache-Control") == "no-store" && answer.header("ETag") == nil)
        let lines = try await answer.whole().split(separator: "\n").map { try JSONText(parsing: String($0)) }
        #expect(lines.map { $0["id"]?.string } == (1000..<2200).map { "o\($0)" })
        #expect(lines.last?["total"]?.text == "1199.50" && lines.last?["_sync"]?["state"] == "synced")
    }

    @Test("the limit counts all records, whatever a page has")
    func limit() async throws {
        let api = try await Self.large()
        for (limit, expected) in [("1", 1), ("500", 500), ("1001", 1001), ("5000", 1200)] {
            let answer = await api.call(
                "GET", "/v1/orders?limit=\(limit)&fields=id", headers: ["Accept": "application/jsonl"])
            #expect(try await answer.whole().split(separator: "\n").count == expected)
        }
        let filtered = await api.call(
            "GET", "/v1/orders?status=ready&total.gte=1000", headers: ["Accept": "application/jsonl"])
        #expect(try await filtered.whole().split(separator: "\n").count == 100)
    }

    @Test func `large records are written in small pieces, so that many readers can take their time`() async throws {
        let api = try TestAPI()
        let text = String(repeating: "x", count: 100_000)
        let records = (0..<20).map { #"{"id":"o\#($0)","notes":"\#(text)"}"# }
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: "[\(records.joined(separator: ","))]"), at: TestAPI.now)
        let answer = await api.call("GET", "/v1/orders", headers: ["Accept": "application/jsonl"])
        guard case .stream(let produce) = answer.response.body else { return #expect(Bool(false)) }
        let sizes = Mutex<[Int]>([])
        try await produce { piece in sizes.withLock { $0.append(piece.count) } }
        #expect(sizes.withLock { $0.max() ?? 0 } < 700_000 && sizes.withLock { $0.reduce(0, +) } > 2_000_000)
    }

    @Test(
        "only so many whole lists are sent at once: the next gets 503 with Retry-After, and pages are served all the same"
    )
    func limitOfLists() async throws {
        let api = try TestAPI(places: 1)
        let lines = ["Accept": "application/x-ndjson"]
        var first: TestAPI.Answer? = await api.call("GET", "/v1/orders", headers: lines)
        #expect(first?.status == 200)
        let second = await api.call("GET", "/v1/orders", headers: ["Accept": "text/csv"])
        #expect(second.status == 503 && second.header("Retry-After") != nil)
        #expect(second.json["detail"]?.string?.contains("whole lists") == true, "\(second.text)")
        #expect(await api.call("GET", "/v1/orders").status == 200)
        // One that is dropped before it was written makes room.
        first = nil
        #expect(await api.call("GET", "/v1/orders", headers: lines).status == 200)
    }

    @Test("one user leaves half of the whole lists to others, also compressed")
    func share() async throws {
        let api = try TestAPI(places: 4)
        var answers: [TestAPI.Answer] = []
        for (user, status) in [(1001, 200), (1001, 200), (1001, 503), (1002, 200)] as [(UInt32, Int)] {
            let answer = await api.call(
                "GET", "/v1/orders", headers: ["Accept": "application/x-ndjson", "Accept-Encoding": "gzip"],
                caller: Caller(user: user, access: .member))
            #expect(answer.status == status)
            if answer.status == 200 { answers.append(answer) }
        }
        #expect(api.api.handlers.places.wholeLists.openCount == 3)
        answers = []
        #expect(api.api.handlers.places.wholeLists.openCount == 0)
    }

    @Test("CSV has a header line and the fields of the schema, or those that are asked for")
    func csv() async throws {
        let api = try await TestAPI.filled()
        let csv = ["Accept": "text/csv"]
        let all = await api.call("GET", "/v1/orders?sort=id", headers: csv)
        #expect(all.header("Content-Type") == "text/csv; charset=utf-8")
        #expect(
            try await all.whole()
                == "id,status,total,created_at\r\na,ready,129.90,2026-01-02\r\nb,open,,\r\n")
        let some = await api.call("GET", "/v1/orders?sort=id&fields=total,id", headers: csv)
        #expect(try await some.whole() == "total,id\r\n129.90,a\r\n,b\r\n")
        let none = await api.call("GET", "/v1/orders?status=ready&id=b", headers: csv)
        #expect(try await none.whole() == "id,status,total,created_at\r\n")
    }

    @Test("CSV has values from inside the record, no secrets, and nothing that a spreadsheet runs")
    func cells() async throws {
        let api = try TestAPI(
            field: """
                city: { type: string, from: address.city }
                      pin: { type: string, secret: true }
                """)
        let record = #"[{"id":"=1+1","status":"ready","total":1,"pin":"1234","address":{"city":"Leeds, West"}}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: record), at: TestAPI.now)
        let answer = await api.call("GET", "/v1/orders", headers: ["Accept": "text/csv"])
        #expect(
            try await answer.whole() == "id,status,total,city,created_at\r\n'=1+1,ready,1,\"Leeds, West\",\r\n")
    }

    @Test("the records of a relation can be had as lines, with related records")
    func related() async throws {
        let api = try await TestAPI.filled()
        let message = #"[{"id":"m","order_id":"a","text":"one\ntwo"}]"#
        _ = try await api.store.apply(PulledPage(entity: "messages", records: message), at: TestAPI.now)
        let lines = ["Accept": "application/x-ndjson"]
        let messages = await api.call("GET", "/v1/orders/a/messages", headers: lines)
        #expect(try await messages.whole().contains(#""text":"one\ntwo""#))
        let orders = try await api.call("GET", "/v1/orders?id=a&include=messages", headers: lines).whole()
        #expect(try JSONText(parsing: orders)["_include"]?["messages"]?.elements.first?["id"] == "m")
    }

    @Test("mistakes are answered before the list begins", arguments: ["application/x-ndjson", "text/csv"])
    func mistakes(_ type: String) async throws {
        let api = try await TestAPI.filled()
        for query in ["total=x", "nothing=1", "limit=0", "count=true", "sort=nothing", "cursor=abc"] {
            let answer = await api.call("GET", "/v1/orders?\(query)", headers: ["Accept": type])
            #expect(answer.status == 400 && answer.header("Content-Type") == "application/problem+json", "\(query)")
        }
        let included = await api.call("GET", "/v1/orders?include=messages", headers: ["Accept": type])
        #expect(included.status == (type == "text/csv" ? 400 : 200))
    }

    @Test("a limit that is no limit is refused without naming the greatest number there is")
    func refusedLimit() async throws {
        let answer = try await TestAPI.filled().call(
            "GET", "/v1/orders?limit=0&count=true", headers: ["Accept": "text/csv"])
        #expect(
            answer.json["detail"]
                == "limit: expected a whole number from 1 on; text/csv has no place for count", "\(answer.text)")
    }

    @Test("no snapshot is held while the reader takes a page: what changes meanwhile is in the next one")
    func noSnapshot() async throws {
        let api = try await Self.large()
        let answer = await api.call("GET", "/v1/orders?sort=id&fields=total", headers: ["Accept": "text/csv"])
        let changed = Counter()
        let text = try await answer.whole {
            guard changed.next() == 1 else { return }
            let last = #"[{"id":"o2199","status":"open","total":7}]"#
            _ = try await api.store.apply(PulledPage(entity: "orders", records: last), at: TestAPI.now)
        }
        #expect(text.hasSuffix("\r\n1198.50\r\n7\r\n"))
    }

    @Test("a list that cannot be read on is reported and ends with an error, so that its answer is cut off")
    func cut() async throws {
        let api = try await TestAPI.filled()
        let handlers = api.api.handlers
        let order = try #require(handlers.schema["orders"])
        let export = ListExport(
            store: api.store, query: ListQuery(entity: "gone"), include: [], caller: .daemon,
            format: RecordFormat(.csv, order, nil))
        let first = try {
            var page = try api.store.list(ListQuery(entity: "orders"))
            page.next = "more"
            return page
        }()
        let reported = Counter()
        await #expect(throws: (any Error).self) {
            try await export.write(from: first, to: { _ in }, report: { _ in _ = reported.next() })
        }
        #expect(reported.next() == 2)
    }
}
