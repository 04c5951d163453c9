import SocketServer
import TestSupport
import Testing

/// The input of one connection and the statuses it gets before the server closes.
struct Probe: Sendable, CustomTestStringConvertible {
    let name: String
    let input: String
    let statuses: [Int]

    init(_ name: String, _ input: String, _ statuses: Int...) {
        self.name = name
        self.input = input
        self.statuses = statuses
    }

    var testDescription: String { name }

    /// Follows each probe that must be rejected: a response to it would be a response to smuggled bytes.
    private static let next = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    private static func get(_ fields: String, line: String = "GET / HTTP/1.1") -> String {
        "\(line)\r\n\(fields)\r\n\r\n\(next)"
    }

    private static func post(_ fields: String, _ body: String) -> String {
        "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)\(next)"
    }

    static let lines: [Probe] = [
        Probe("a plain request", get("Host: a"), 200, 200),
        Probe("an empty line before a request", "\r\n" + get("Host: a"), 200, 200),
        Probe("two empty lines before a request", "\r\n\r\n" + get("Host: a"), 400),
        Probe("HTTP/1.0", get("Host: a", line: "GET / HTTP/1.0"), 505),
        Probe("HTTP/2.0", get("Host: a", line: "GET / HTTP/2.0"), 505),
        Probe("a lowercase version", get("Host: a", line: "GET / http/1.1"), 400),
        Probe("a version of three digits", get("Host: a", line: "GET / HTTP/1.10"), 400),
        Probe("HTTP/0.9", "GET /\r\n" + next, 400),
        Probe("two spaces", get("Host: a", line: "GET  / HTTP/1.1"), 400),
        Probe("a tab for a space", get("Host: a", line: "GET\t/ HTTP/1.1"), 400),
        Probe("a space before the method", get("Host: a", line: " GET / HTTP/1.1"), 400),
        Probe("a space after the version", get("Host: a", line: "GET / HTTP/1.1 "), 400),
        Probe("a method that is not a token", get("Host: a", line: "G@T / HTTP/1.1"), 400),
        Probe("an absolute target", get("Host: a", line: "GET http://a/ HTTP/1.1"), 400),
        Probe("an asterisk target", get("Host: a", line: "OPTIONS * HTTP/1.1"), 400),
        Probe("an authority target", get("Host: a", line: "CONNECT a:80 HTTP/1.1"), 400),
        Probe("a fragment", get("Host: a", line: "GET /#a HTTP/1.1"), 400),
        Probe("a broken percent-encoding", get("Host: a", line: "GET /%4 HTTP/1.1"), 400),
        Probe("a byte beyond ASCII in the target", get("Host: a", line: "GET /é HTTP/1.1"), 400),
        Probe("a NUL in the target", get("Host: a", line: "GET /\0 HTTP/1.1"), 400),
        Probe("a bare CR in the request line", get("Host: a", line: "GET /\r HTTP/1.1"), 400),
        Probe("a request line that is too long", get("Host: a", line: "GET /\(long(9000)) HTTP/1.1"), 414),
        Probe("a TLS greeting", "\u{16}\u{03}\u{01}\0\u{01}\n", 400),
    ]

    static let fields: [Probe] = [
        Probe("no Host", get("Accept: a"), 400),
        Probe("two Hosts", get("Host: a\r\nHost: a"), 400),
        Probe("an empty Host", get("Host:"), 400),
        Probe("an invalid Host", get("Host: a/b"), 400),
        Probe("a Host with user information", get("Host: u@a"), 400),
        Probe("a Host list", get("Host: a, b"), 400),
        Probe("a Host with a port", get("Host: a.example:80"), 200, 200),
        Probe("a Host with an IPv6 address", get("Host: [::1]:80"), 200, 200),
        Probe("a folded field", get("Host: a\r\nX: a\r\n b"), 400),
        Probe("a fold at the start", get(" Host: a"), 400),
        Probe("a bare LF after a field", get("Host: a\nX: a"), 400),
        Probe("bare LFs only", "GET / HTTP/1.1\nHost: a\n\n", 400),
        Probe("a bare CR in a field", get("Host: a\r\nX: a\rb"), 400),
        Probe("a NUL in a field", get("Host: a\r\nX: a\0b"), 400),
        Probe("a control character in a field", get("Host: a\r\nX: a\u{7F}b"), 400),
        Probe("a space before the colon", get("Host: a\r\nX : a"), 400),
        Probe("a field without a colon", get("Host: a\r\nX"), 400),
        Probe("a field without a name", get("Host: a\r\n: a"), 400),
        Probe("a name that is not a token", get("Host: a\r\nX(: a"), 400),
        Probe("tabs and spaces around a value", get("Host: \t a \t"), 200, 200),
        Probe("a head that is too large", get("Host: a\r\nX: \(long(17000))"), 431),
        Probe("too many fields", get("Host: a\r\n" + (1...100).map { "X: \($0)" }.joined(separator: "\r\n")), 431),
        Probe("an unknown expectation", get("Host: a\r\nExpect: more"), 417),
        Probe("Connection: close", get("Host: a\r\nConnection: Close"), 200),
        Probe("close among options", get("Host: a\r\nConnection: x, close"), 200),
        Probe("a request cut short", "GET / HTTP/1.1\r\nHost", 400),
    ]

    static let bodies: [Probe] = [
        Probe("a length", post("Content-Length: 3", "abc"), 200, 200),
        Probe("a request as a body", post("Content-Length: \(next.utf8.count)", next), 200, 200),
        Probe("a plus sign", post("Content-Length: +3", "abc"), 400),
        Probe("a minus sign", post("Content-Length: -3", "abc"), 400),
        Probe("a hexadecimal length", post("Content-Length: 0x3", "abc"), 400),
        Probe("a length list", post("Content-Length: 3, 3", "abc"), 400),
        Probe("an empty length", post("Content-Length:", "abc"), 400),
        Probe("a length with a space", post("Content-Length: 1 3", "abc"), 400),
        Probe("differing lengths", post("Content-Length: 3\r\nContent-Length: 4", "abc"), 400),
        Probe("the same length twice", post("Content-Length: 3\r\nContent-Length: 3", "abc"), 400),
        Probe("a body that is too large", post("Content-Length: 1048577", ""), 413),
        Probe("a length larger than any integer", post("Content-Length: 99999999999999999999999", ""), 413),
        Probe("a body cut short", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", 400),
        Probe("length and coding", post("Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), 400),
        Probe("coding and length", post("Transfer-Encoding: chunked\r\nContent-Length: 3", "0\r\n\r\n"), 400),
        Probe("two codings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), 400),
        Probe("an unknown coding", post("Transfer-Encoding: gzip", "0\r\n\r\n"), 400),
        Probe("a coding list", post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"), 501),
        Probe("a coding with a vertical tab", post("Transfer-Encoding: \u{0B}chunked", "0\r\n\r\n"), 400),
        Probe("identity", post("Transfer-Encoding: identity", "0\r\n\r\n"), 400),
        Probe("chunked in capitals", post("Transfer-Encoding: Chunked", "0\r\n\r\n"), 200, 200),
        chunked("chunks", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 200, 200),
        chunked("an extension", "3;a=\"b\"\r\nabc\r\n0;x\r\n\r\n", 200, 200),
        chunked("trailers", "3\r\nabc\r\n0\r\nX: y\r\nContent-Length: 9\r\n\r\n", 200, 200),
        chunked("endless extensions", "3;\(long(5000))\r\nabc\r\n0\r\n\r\n", 413),
        chunked("endless trailers", "0\r\nX: \(long(17000))\r\n\r\n", 431),
        chunked("a trailer that is not a field", "0\r\nX\r\n\r\n", 400),
        chunked("an empty chunk size", "\r\nabc\r\n0\r\n\r\n", 400),
        chunked("a chunk size with 0x", "0x3\r\nabc\r\n0\r\n\r\n", 400),
        chunked("a negative chunk size", "-3\r\nabc\r\n0\r\n\r\n", 400),
        chunked("a chunk size that overflows", "1000000000000000000003\r\nabc\r\n0\r\n\r\n", 400),
        chunked("a chunk that is too large", "100001\r\nabc\r\n0\r\n\r\n", 413),
        chunked("a chunk longer than its size", "3\r\nabcd\r\n0\r\n\r\n", 400),
        chunked("a chunk ended by a bare LF", "3\r\nabc\n0\r\n\r\n", 400),
        chunked("a chunk size ended by a bare LF", "3\nabc\r\n0\r\n\r\n", 400),
        chunked("a bare LF in an extension", "3;a\nabc\r\n0\r\n\r\n", 400),
        chunked("a bare CR in an extension", "3;a\rb\r\nabc\r\n0\r\n\r\n", 400),
    ]

    private static func chunked(_ name: String, _ body: String, _ statuses: Int...) -> Probe {
        var probe = Probe(name, post("Transfer-Encoding: chunked", body))
        probe = Probe(name: probe.name, input: probe.input, statuses: statuses)
        return probe
    }

    private init(name: String, input: String, statuses: [Int]) {
        self.name = name
        self.input = input
        self.statuses = statuses
    }

    private static func long(_ count: Int) -> String { String(repeating: "a", count: count) }
}

extension SocketServerTests {
    @Suite struct ProbeTests {
        @Test("request lines are accepted or rejected as in RFC 9112", arguments: Probe.lines)
        func requestLine(probe: Probe) async throws { try await check(probe) }

        @Test("header fields are accepted or rejected as in RFC 9112", arguments: Probe.fields)
        func headerFields(probe: Probe) async throws { try await check(probe) }

        @Test("bodies are framed or rejected as in RFC 9112", arguments: Probe.bodies)
        func body(probe: Probe) async throws { try await check(probe) }

        private func check(_ probe: Probe) async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send(probe.input)
                client.finishSending()
                let answers = try client.receiveAll()
                #expect(statuses(answers) == probe.statuses)
                let isRefused = probe.statuses.last != 200
                #expect(answers.contains("application/problem+json") == isRefused)
                #expect(answers.contains("Connection: close") == (isRefused || probe.statuses == [200]))
            }
        }
    }
}
