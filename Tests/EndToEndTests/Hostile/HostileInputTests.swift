import JSONText
import TestSupport
import Testing

/// Values with a meaning to a file system, to SQL or to HTML, in paths, bodies and header fields.
@Suite("Hostile input", .serialized)
struct HostileInputTests {
    private static let paths = [
        "/v1/../etc/passwd", "/v1/%2e%2e/status", "/v1/%2E%2E%2Fstatus", "/v1/orders/../../status", "/..", "/%2e%2e",
        "/v1%2fstatus", "/v1/orders%2fa", "/v1/orders/%2f", "/v1/orders/%c0%af", "/v1/orders/%c0%ae%c0%ae",
        "/v1/orders/%e0%80%af", "/v1/orders/%00", "/v1/orders/a%00b", "/v1/%00", "/v1/orders/%ff%fe", "/v1//orders",
        "/v1/orders//", "/v1/", "//", "/v1/orders/%25%32%65", "/v1/sqlite_master", "/v1/sync_outbox",
        "/v1/orders/a/sqlite_master", "/v1/orders/%ed%a0%80", "/v1/pending/99999999999999999999", "/v1/pending/-1",
        "/v1/pending/1e3", "/v1/conflicts/0x1", "/v1/conflicts/-9223372036854775808/undo",
    ]

    static let strings = [
        "' OR '1'='1", "'; DROP TABLE records_orders; --", "\" OR \"\"=\"", "1); DELETE FROM sync_outbox; --",
        "a' UNION SELECT 1", "..", "%2e%2e%2f", "..\\..\\etc", "/etc/passwd", "file:///etc/passwd",
        "%", "_", "*", "\\", "`", "[", "?1", ":a", "@a", "$1", "NULL", "\u{0}", "a\u{0}b", "\u{202E}", "💥", "\u{FFFE}",
        "9223372036854775808", "-9223372036854775809", "1e309", "NaN", "0x10", "../../etc/passwd", "<script>",
        "{{7*7}}",
        "${jndi:x}", "", " ", ",", ",,,", "a,", String(repeating: "a", count: 4000),
        String(repeating: "(", count: 2000),
    ]

    @Test("no path leaves the API or gets 5xx")
    func paths() async throws {
        try await OfflineDaemon.run { daemon throws in
            let connection = try daemon.connect()
            for path in Self.paths {
                for method in ["GET", "HEAD", "DELETE", "OPTIONS"] where method != "HEAD" {
                    let status = try #require(try connection.exchange(Self.request(method, path)), "\(method) \(path)")
                    let isOptions = method == "OPTIONS" && status == 204
                    #expect((400..<500).contains(status) || isOptions, "\(method) \(path): \(status)")
                }
            }
        }
    }

    @Test("no body that is malformed, of another type or too deep gets 5xx")
    func bodies() async throws {
        try await OfflineDaemon.run { daemon throws in
            let connection = try daemon.connect()
            let broken = [
                "{", "}", "[", "null", "1", "\"a\"", "[1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}{}",
                "{'a':1}",
                "{\"a\":\u{0}}", "{\"a\":\"\\ud800\"}", "{\"a\":NaN}", "{\"a\":01}", "{\"a\":1,\"a\":2}", "\u{FEFF}{}",
                String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 50_000), "{\"a\":1e999999}",
            ]
            let calls = [
                ("POST", "/v1/orders"), ("PATCH", "/v1/orders/none"), ("POST", "/v1/sync"),
                ("POST", "/v1/conflicts/1/resolve"), ("PATCH", "/v1/pending/1"),
            ]
            for body in broken {
                for (method, path) in calls {
                    let status = try #require(
                        try connection.exchange(Self.request(method, path, body)), "\(body.prefix(80))")
                    #expect(status < 500, "\(method) \(path) \(body.prefix(80)): \(status)")
                }
            }
        }
    }

    @Test("no header gets 5xx")
    func headers() async throws {
        try await OfflineDaemon.run { daemon throws in
            let names = [
                "Authorization", "Accept", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID",
                "Content-Type",
                "Origin", "Referer", "Range", "Cookie", "X-Forwarded-For", "X-HTTP-Method-Override", "Prefer",
            ]
            // The hostile requests cover what a header field cannot hold.
            let values = Self.strings.filter { $0.unicodeScalars.allSatisfy { $0.value >= 32 } }
            let connection = try daemon.connect()
            for name in names {
                for value in values {
                    let get = Self.request("GET", "/v1/orders", fields: "\(name): \(value)\r\n")
                    let status = try #require(try connection.exchange(get), "\(name): \(value)")
                    #expect(status < 500, "\(name): \(value): \(status)")
                }
            }
        }
    }

    private static func request(_ method: String, _ target: String, _ body: String = "", fields: String = "") -> String
    {
        let type = body.isEmpty ? "" : "Content-Type: application/json\r\n"
        return
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(type)\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
            + body
    }

    /// Every byte as `%XX`.
    static func encoded(_ text: String) -> String {
        // A request line may have 8 KiB.
        text.utf8.prefix(2000).map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
