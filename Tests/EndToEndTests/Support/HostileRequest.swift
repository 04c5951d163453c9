import Testing

/// Bytes that no well-behaved client sends.
struct HostileRequest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ name: String, _ text: String) {
        testDescription = name
        bytes = Array(text.utf8)
    }

    /// A second request, which is answered too if the server sees the end of the hostile one elsewhere than we do.
    static let smuggled = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private static func get(_ line: String, _ fields: String = "Host: localhost") -> String {
        "\(line)\r\n\(fields)\r\n\r\n"
    }

    private static func post(_ fields: String, _ body: String) -> String {
        "POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(fields)\r\n\r\n\(body)"
    }

    private static func chunked(_ name: String, _ body: String) -> HostileRequest {
        HostileRequest(name, post("Transfer-Encoding: chunked", body))
    }

    static let lines: [HostileRequest] = [
        HostileRequest("HTTP/0.9", "GET /\r\n"),
        HostileRequest("HTTP/0.9 with an empty line", "GET /v1/status\r\n\r\n"),
        HostileRequest("a lower-case method", get("get /v1/status HTTP/1.1")),
        HostileRequest("an unknown method", get("BREW /v1/status HTTP/1.1")),
        HostileRequest("TRACE", get("TRACE / HTTP/1.1")),
        HostileRequest("OPTIONS for everything", get("OPTIONS * HTTP/1.1")),
        HostileRequest("CONNECT", get("CONNECT localhost:22 HTTP/1.1")),
        HostileRequest("an absolute target with a user", get("GET http://u@localhost/v1/status HTTP/1.1")),
        HostileRequest("an absolute target elsewhere", get("GET http://evil.example/v1/status HTTP/1.1")),
        HostileRequest("a target without a slash", get("GET v1/status HTTP/1.1")),
        HostileRequest("two slashes", get("GET //evil.example/v1/status HTTP/1.1")),
        HostileRequest("a backslash", get("GET /v1\\status HTTP/1.1")),
        HostileRequest("two spaces", get("GET  /v1/status HTTP/1.1")),
        HostileRequest("a tab", get("GET\t/v1/status HTTP/1.1")),
        HostileRequest("a space in the target", get("GET /v1/sta tus HTTP/1.1")),
        HostileRequest("a NUL in the target", get("GET /v1/\0status HTTP/1.1")),
        HostileRequest("a NUL first", "\0" + get("GET /v1/status HTTP/1.1")),
        HostileRequest("a bare LF after the line", "GET /v1/status HTTP/1.1\nHost: localhost\r\n\r\n"),
        HostileRequest("a bare CR after the line", "GET /v1/status HTTP/1.1\rHost: localhost\r\n\r\n"),
        HostileRequest("a lower-case version", get("GET /v1/status http/1.1")),
        HostileRequest("a version with zeros", get("GET /v1/status HTTP/01.1")),
        HostileRequest("an endless line", "GET /" + String(repeating: "a", count: 1 << 20)),
        HostileRequest("a TLS greeting", "\u{16}\u{03}\u{01}\u{02}\0\u{01}\0\u{01}\u{7C}\u{03}\u{03}"),
        HostileRequest("an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ]

    static let fields: [HostileRequest] = [
        HostileRequest("no Host", get("GET /v1/status HTTP/1.1", "Accept: a")),
        HostileRequest("two Hosts", get("GET /v1/status HTTP/1.1", "Host: localhost\r\nHost: localhost")),
        HostileRequest("an empty Host", get("GET /v1/status HTTP/1.1", "Host:")),
        HostileRequest("another Host", get("GET /v1/status HTTP/1.1", "Host: evil.example")),
        HostileRequest("a space before the colon", get("GET /v1/status HTTP/1.1", "Host : localhost")),
        HostileRequest("a folded field", get("GET /v1/status HTTP/1.1", "Host: localhost\r\nX: a\r\n b")),
        HostileRequest("a fold with a tab", get("GET /v1/status HTTP/1.1", "Host:\r\n\tlocalhost")),
        HostileRequest("a bare LF between fields", get("GET /v1/status HTTP/1.1", "X: a\nHost: localhost")),
        HostileRequest("bare LFs only", "GET /v1/status HTTP/1.1\nHost: localhost\n\n"),
        HostileRequest("a NUL in a value", get("GET /v1/status HTTP/1.1", "Host: localhost\r\nX: a\0b")),
        HostileRequest("a NUL in a name", get("GET /v1/status HTTP/1.1", "Host: localhost\r\nX\0: a")),
        HostileRequest("no name", get("GET /v1/status HTTP/1.1", "Host: localhost\r\n: a")),
        HostileRequest("no colon", get("GET /v1/status HTTP/1.1", "Host: localhost\r\nX")),
        HostileRequest(
            "a head of a megabyte",
            get("GET /v1/status HTTP/1.1", "Host: localhost\r\nX: " + String(repeating: "a", count: 1 << 20))),
        HostileRequest(
            "ten thousand fields",
            get("GET /v1/status HTTP/1.1", "Host: localhost" + String(repeating: "\r\nX: a", count: 10_000))),
    ]

    static let bodies: [HostileRequest] = [
        HostileRequest("length and coding", post("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n")),
        HostileRequest("coding and length", post("Transfer-Encoding: chunked\r\nContent-Length: 0", "0\r\n\r\n")),
        HostileRequest("two lengths", post("Content-Length: 0\r\nContent-Length: 45", "")),
        HostileRequest("the same length twice", post("Content-Length: 2\r\nContent-Length: 2", "{}")),
        HostileRequest("a list of lengths", post("Content-Length: 2, 2", "{}")),
        HostileRequest("a plus sign", post("Content-Length: +3", "{ }")),
        HostileRequest("a negative length", post("Content-Length: -1", "{}")),
        HostileRequest("a hexadecimal length", post("Content-Length: 0x2", "{}")),
        HostileRequest("a length larger than any integer", post("Content-Length: 18446744073709551618", "{}")),
        HostileRequest("a length a little too large", post("Content-Length: 1048577", "{}")),
        HostileRequest("identity", post("Transfer-Encoding: identity", "{}")),
        HostileRequest("chunked, then identity", post("Transfer-Encoding: chunked, identity", "0\r\n\r\n")),
        HostileRequest("chunked twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n")),
        HostileRequest("chunked behind a vertical tab", post("Transfer-Encoding: \u{0B}chunked", "0\r\n\r\n")),
        HostileRequest("an almost chunked coding", post("Transfer-Encoding: xchunke", "0\r\n\r\n")),
        HostileRequest("a space before the coding's colon", post("Transfer-Encoding : chunked", "0\r\n\r\n")),
        chunked("no chunk size", "\r\n{}\r\n0\r\n\r\n"),
        chunked("a chunk size with a sign", "+2\r\n{}\r\n0\r\n\r\n"),
        chunked("a negative chunk size", "-2\r\n{}\r\n0\r\n\r\n"),
        chunked("a chunk size with 0x", "0x2\r\n{}\r\n0\r\n\r\n"),
        chunked("a chunk size that overflows", "10000000000000002\r\n{}\r\n0\r\n\r\n"),
        chunked("a chunk longer than its size", "2\r\n{}}\r\n0\r\n\r\n"),
        chunked("a chunk that ends in a bare LF", "2\r\n{}\n0\r\n\r\n"),
        chunked("a chunk size that ends in a bare LF", "2\n{}\r\n0\r\n\r\n"),
        chunked("a bare LF in a chunk extension", "2;a\n{}\r\n0\r\n\r\n"),
        chunked("endless chunk extensions", "2;" + String(repeating: "a", count: 100_000)),
        chunked("a trailer that is not a field", "0\r\nX\r\n\r\n"),
        chunked("endless trailers", "0\r\nX: " + String(repeating: "a", count: 100_000)),
    ]
}
