import CacheStore
import EntitySchema
import JSONText
import Testing

@Suite("Hostile queries")
struct HostileQueryTests {
    private static let texts = [
        "'", "\"", "' OR '1'='1", "a' OR 1=1 --", "\" OR \"\"=\"", "1; DROP TABLE records_orders",
        "a') UNION SELECT 1,2,3,4--",
        "_key", "_deleted", "records_orders", "sqlite_master", "%", "_", "*", "a*", "\\", "`", "[a]", "$.a", "{", "}",
        "null", "-", "--",
        ".", "..", "/", "../../etc/passwd", "\u{1F600}", "\u{202E}", "ａ", "9223372036854775808", "1e999", "-0", "0x10",
        "nan", "inf",
        String(repeating: "a,", count: 3000), String(repeating: "x", count: 5000), "?", "?1", ":a", "@a",
    ]

    @Test(
        "no text as field, value, order, cursor, relation or id gets 5xx or matches more", arguments: texts)
    func hostile(_ text: String) async throws {
        let api = try await TestAPI.filled()
        let coded = Entity.percentEncoded(text)
        let lists = [
            "\(coded)=a", "status=\(coded)", "id=\(coded)", "status.ne=\(coded)", "status.gt=\(coded)",
            "total=\(coded)",
            "created_at=\(coded)", "status.\(coded)=a", "status.null=\(coded)", "sort=\(coded)", "sort=-\(coded)",
            "cursor=\(coded)", "include=\(coded)", "include=messages.\(coded)", "fields=\(coded)", "limit=\(coded)",
            "count=\(coded)", "sync=\(coded)",
        ]
        for query in lists {
            let answer = await api.call("GET", "/v1/orders?\(query)")
            #expect(answer.status == 200 || answer.status == 400, "\(query.prefix(100)): \(answer.text.prefix(200))")
            #expect(answer.json["data"]?.elements.count ?? 0 <= 2)
        }
        for query in ["status=\(coded)", "id=\(coded)"] where !text.contains("a,") {
            let found = await api.call("GET", "/v1/orders?\(query)").json["data"]?.elements ?? []
            #expect(found.isEmpty, "\(query.prefix(100))")
        }
        for path in ["/v1/orders/\(coded)", "/v1/orders/\(coded)/messages", "/v1/orders/a/\(coded)", "/v1/\(coded)"] {
            #expect(await api.call("GET", path).status == 404, "\(path.prefix(100))")
        }
        #expect(await api.call("PATCH", "/v1/orders/\(coded)", body: #"{"status":"open"}"#).status == 404)
        #expect(try api.store.rowCounts()["orders"] == 2)
    }

    @Test("no text in a filter gets 5xx or matches more", arguments: texts)
    func hostileFilters(_ text: String) async throws {
        let api = try await TestAPI.filled()
        let coded = Entity.percentEncoded(text)
        let operations = ["eq", "in", "nin", "starts", "contains", "has", "not.contains"]
        let filters =
            ["text", "number", "order.id", "order.\(coded)", coded].flatMap { path in
                operations.map { "\(path).\($0)=\(coded)" }
            }
            + [
                "or=\(coded)", "or=(\(coded))", "or=(text.eq.\(coded))", "or=(\(coded).eq.a,text.starts.\(coded))",
                "not.and=(text.in.(\(coded)))", "and=(or(\(coded)))", "and=(text.contains.%22\(coded)%22)",
            ]
        for query in filters {
            let answer = await api.call("GET", "/v1/messages?\(query)")
            #expect(answer.status == 200 || answer.status == 400, "\(query.prefix(100)): \(answer.text.prefix(200))")
            #expect(answer.json["data"]?.elements.isEmpty ?? true)
        }
    }

    @Test(
        "a value of the wrong type gets 400 with the field",
        arguments: [
            "total=much", "total.gte=0x10", "created_at=soon", "created_at.lt=", "created_at.gte=2026-02-30",
            "total=1,x", "status.null=maybe",
        ])
    func wrongType(_ query: String) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/orders?\(query)")
        #expect(answer.status == 400)
        let field = answer.json["errors"]?.elements.first?["field"]?.string ?? ""
        #expect(query.hasPrefix(field) && !field.isEmpty)
    }

    @Test("a list without an index works and reports it, any other reports nothing")
    func timing() async throws {
        let api = try await TestAPI.filled()
        let scan = await api.call("GET", "/v1/orders?total=129.9&sort=total")
        #expect(scan.json["data"]?.elements.count == 1)
        #expect(scan.header("Server-Timing") == #"scan;desc="no index on total", db;dur=0"#)
        for query in ["", "?status=open", "?status=open&total=5", "?sort=-created_at", "?sync=pending"] {
            #expect(await api.call("GET", "/v1/orders\(query)").header("Server-Timing") == nil, "\(query)")
        }
    }
}
