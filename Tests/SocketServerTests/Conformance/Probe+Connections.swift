/// Connections that stay or close, expectations, upgrades and limits: RFC 9110, 7.8 and 10.1.1, RFC 9112, 9.
extension Probe {
    static let connections: [Probe] = [
        get("RFC 9112, 9.6", "Connection: close", "Host: a\r\nConnection: close", 200),
        get("RFC 9110, 7.6.1: without regard to case", "Connection: CLOSE", "Host: a\r\nConnection: CLOSE", 200),
        get("RFC 9110, 7.6.1", "close among options", "Host: a\r\nConnection: x, close", 200),
        get("RFC 9110, 7.6.1", "close in a second field", "Host: a\r\nConnection: x\r\nConnection: close", 200),
        get(
            "RFC 9110, 7.6.1: other options are ignored", "an unknown option", "Host: a\r\nConnection: closed", 200, 200
        ),
        get("RFC 9112, 9.3", "Connection: keep-alive", "Host: a\r\nConnection: keep-alive", 200, 200),
        get("RFC 9110, 7.8: may be ignored", "an upgrade to WebSocket", "Host: a\r\n\(webSocket)13", 200, 200),
        get("RFC 9110, 7.8: may be ignored", "an unknown version of WebSocket", "Host: a\r\n\(webSocket)99", 200, 200),
        get(
            "RFC 9110, 7.8: may be ignored", "an unknown protocol", "Host: a\r\nConnection: Upgrade\r\nUpgrade: x/1",
            200, 200),
        get("RFC 9110, 7.8: needs Connection", "Upgrade without Connection", "Host: a\r\nUpgrade: websocket", 200, 200),
        post(
            "RFC 9110, 7.8: may be ignored", "an upgrade with POST",
            "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5", "hello", 200, 200, answer: "POST / hello"),
        get(
            "RFC 9110, 7.8: may be ignored", "an upgrade to HTTP/2",
            "Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk", 200, 200),
        get("RFC 9110, 10.1.1", "an unknown expectation", "Host: a\r\nExpect: 200-ok", 417),
        get("RFC 9110, 10.1.1", "an expectation among others", "Host: a\r\nExpect: 100-continue, x", 417),
        get(
            "RFC 9110, 10.1.1: ignored without a body", "an expectation without a body",
            "Host: a\r\nExpect: 100-continue", 200, 200),
        post(
            "RFC 9110, 10.1.1: no 100 once the body is there", "an expectation with its body",
            "Expect: 100-Continue\r\nContent-Length: 5", "hello", 200, 200, answer: "POST / hello"),
        Probe("RFC 9112, 9.3.2", "pipelined requests", next + next + next, [200, 200, 200]),
        Probe("RFC 9112, 8", "a request cut short", "GET / HTTP/1.1\r\nHost: a\r\nX: v", [400]),
        Probe("RFC 9112, 9.8", "nothing at all", "", []),
        Probe(
            "RFC 9110, 9.3.2", "HEAD has no body", "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [200],
            answer: ""),
        Probe(
            "RFC 9110, 9.3.2", "a refused HEAD has no body", "HEAD / HTTP/1.1\r\nBad Field: a\r\n\r\n", [400],
            answer: ""),
        Probe(
            "RFC 9110, 9.3.2", "a refusal after a HEAD has one", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET\r\n\r\n",
            [200, 400],
            answer: badLine),
    ]

    static let limits: [Probe] = [
        line("RFC 9112, 3: 8000 bytes should be possible", "a long target", "GET /\(long(8100)) HTTP/1.1", 200, 200),
        line("RFC 9112, 3", "a target that is too long", "GET /\(long(100_000)) HTTP/1.1", 414),
        line(
            "RFC 9112, 3: too long a method is too long a line", "a method that is too long",
            "\(long(100_000)) / HTTP/1.1", 414),
        get("RFC 6585, 5", "a value that is too long", "Host: a\r\nX: \(long(100_000))", 431),
        get("RFC 6585, 5", "a name that is too long", "Host: a\r\n\(long(100_000)): a", 431),
        get("RFC 6585, 5", "a cookie that is too long", "Host: a\r\nCookie: a=\(long(65_536))", 431),
        get("RFC 6585, 5", "a hundred fields", "Host: a\(repeated("\r\nX: a", 99))", 200, 200),
        get("RFC 6585, 5", "a hundred and one fields", "Host: a\(repeated("\r\nX: a", 100))", 431),
        get("RFC 6585, 5", "ten thousand fields", "Host: a\(repeated("\r\nX: a", 9_999))", 431),
        get(
            "RFC 9110, 14.2: may be ignored", "a thousand ranges", "Host: a\r\nRange: bytes=0-\(repeated(",0-", 999))",
            200, 200),
        post("RFC 9110, 15.5.14", "a body that is too large", "Content-Length: 1048577", "", 413),
        post("RFC 9110, 15.5.14", "a huge length without a body", "Content-Length: 999999999", "", 413),
        post(
            "RFC 9110, 8.6: anticipate large numbers", "a length beyond any integer",
            "Content-Length: 99999999999999999999", "", 413),
        chunked("RFC 9110, 15.5.14", "a chunk that is too large", "100001\r\nhello\r\n0\r\n\r\n", 413),
        chunked(
            "RFC 9112, 7.1.1: limit their length", "an endless extension", "5;a=\(long(65_536))\r\nhello\r\n0\r\n\r\n",
            413),
        chunked(
            "RFC 9112, 7.1.1: limit their length", "endless extensions",
            repeated("1;a=\(long(1000))\r\na\r\n", 5) + "0\r\n\r\n", 413),
        chunked("RFC 6585, 5", "endless trailers", "0\r\nX: \(long(17_000))\r\n\r\n", 431),
        chunked("RFC 6585, 5", "a hundred and one trailers", "0\r\n\(repeated("X: a\r\n", 101))\r\n", 431),
    ]

    private static let webSocket =
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: "
    private static let badLine =
        #"{"type":"about:blank","title":"Bad Request","status":400,"detail":"The request line must be a method, a target and a version, separated by single spaces."}"#

    private static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
}
