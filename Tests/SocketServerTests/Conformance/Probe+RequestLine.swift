/// Request lines, versions and targets: RFC 9112, 2.2 to 3.2.
extension Probe {
    static let requestLines: [Probe] = [
        line("RFC 9112, 3", "a plain request", "GET / HTTP/1.1", 200, 200, answer: "GET / "),
        line("RFC 9112, 2.2", "an empty line before a request", "\r\nGET / HTTP/1.1", 200, 200),
        line("RFC 9112, 2.2: at least one", "two empty lines before a request", "\r\n\r\nGET / HTTP/1.1", 400),
        line("RFC 9112, 2.2: a bare LF may be refused", "a bare LF after the line", "GET / HTTP/1.1\nX: a", 400),
        line("RFC 9112, 2.2", "a bare CR after the line", "GET / HTTP/1.1\rX: a", 400),
        line("RFC 9112, 2.2", "a bare CR in the line", "GET /\r HTTP/1.1", 400),
        line("RFC 9112, 2.2", "space and CRLF after the line", "GET / HTTP/1.1\r\n ", 400),
        line("RFC 9112, 3: lenient parsing may be refused", "two spaces", "GET  / HTTP/1.1", 400),
        line("RFC 9112, 3", "a tab for a space", "GET\t/ HTTP/1.1", 400),
        line("RFC 9112, 3", "a space before the method", " GET / HTTP/1.1", 400),
        line("RFC 9112, 3", "a space after the version", "GET / HTTP/1.1 ", 400),
        line("RFC 9112, 3", "a line of spaces", "   ", 400),
        line("RFC 9112, 3", "no target", "GET HTTP/1.1", 400),
        line("RFC 9112, 3", "an empty target", "GET  HTTP/1.1", 400),
        line("RFC 9112, 3.1", "a method that is not a token", "G@T / HTTP/1.1", 400),
        line("RFC 9110, 9.1", "methods are case-sensitive", "get / HTTP/1.1", 200, 200, answer: "get / "),
        line("RFC 9110, 9.1", "a method that nobody knows", "FOOBAR / HTTP/1.1", 200, 200, answer: "FOOBAR / "),
        line("RFC 9112, 2.3", "HTTP/0.9", "GET /", 400),
        line("RFC 9110, 2.5", "HTTP/1.0 is answered, and closes", "GET / HTTP/1.0", 200),
        line("RFC 9110, 15.6.6", "HTTP/1.2", "GET / HTTP/1.2", 505),
        line("RFC 9110, 15.6.6", "HTTP/2.0", "GET / HTTP/2.0", 505),
        line("RFC 9110, 15.6.6", "HTTP/9.9", "GET / HTTP/9.9", 505),
        line("RFC 9112, 2.3", "a lowercase version", "GET / http/1.1", 400),
        line("RFC 9112, 2.3", "a version of three digits", "GET / HTTP/1.10", 400),
        line("RFC 9112, 2.3", "a version without a minor number", "GET / HTTP/1", 400),
        line("RFC 9112, 2.3", "a version with leading zeros", "GET / HTTP/01.01", 400),
        line("RFC 9112, 2.3", "a space in the version", "GET / HTTP/ 1.1", 400),
        line("RFC 9112, 2.3", "a comma in the version", "GET / HTTP/1,1", 400),
        Probe("RFC 9112, 3.2", "HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n\(next)", [200]),
        Probe(
            "RFC 9110, 15.2: no 1xx to HTTP/1.0", "an expectation in HTTP/1.0",
            "POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello\(next)", [200],
            answer: "POST / hello"),
        Probe(
            "RFC 9112, 6.1", "a coding in HTTP/1.0",
            "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\(next)", [400]),
        Probe("RFC 9113, 3.4", "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]),
        Probe("RFC 8446, 5.1", "a TLS greeting", "\u{16}\u{03}\u{01}\0\u{01}\n", [400]),
        Probe(
            "RFC 9112, 2.2", "every byte once", everyByte,
            [400]),
    ]

    static let targets: [Probe] = [
        line(
            "RFC 9112, 3.2.1", "a query", "GET /a%20b?c=d&e=%C3%A9? HTTP/1.1", 200, 200,
            answer: "GET /a%20b?c=d&e=%C3%A9? "),
        line(
            "RFC 9112, 3.2.2", "the absolute form", "GET http://b.example:80/x?y HTTP/1.1", 200, 200,
            answer: "GET /x?y "),
        line(
            "RFC 9110, 4.2.1", "an absolute target without a path", "GET HTTP://b?y HTTP/1.1", 200, 200,
            answer: "GET /?y "),
        line("RFC 9110, 4.2.4", "user information in an absolute target", "GET http://u@a/ HTTP/1.1", 400),
        line("RFC 9110, 4.2.1", "an absolute target without a host", "GET http:///x HTTP/1.1", 400),
        line("RFC 9112, 3.2.2", "an absolute target and a fragment", "GET http://a#b HTTP/1.1", 400),
        line("RFC 9110, 7.4", "https without TLS", "GET https://a/ HTTP/1.1", 400),
        line("RFC 9110, 7.4", "another scheme", "GET ftp://a/ HTTP/1.1", 400),
        Probe(
            "RFC 9112, 3.2: Host is needed all the same", "an absolute target without Host",
            "GET http://a/ HTTP/1.1\r\n\r\n\(next)", [400]),
        line("RFC 9112, 3.2.4", "an asterisk with GET", "GET * HTTP/1.1", 400),
        line("RFC 9110, 9.3.7: OPTIONS is optional", "an asterisk with OPTIONS", "OPTIONS * HTTP/1.1", 400),
        line("RFC 9110, 9.3.6: CONNECT is optional", "an authority", "CONNECT a.example:443 HTTP/1.1", 400),
        line("RFC 9112, 3.2.1", "a path without a slash", "GET path HTTP/1.1", 400),
        line("RFC 9112, 3.2", "a fragment", "GET /#a HTTP/1.1", 400),
        line("RFC 9112, 3.2", "a space", "GET /a b HTTP/1.1", 400),
        line("RFC 3986, 2.1", "a broken percent-encoding", "GET /%4 HTTP/1.1", 400),
        line("RFC 3986, 3.3", "a backslash", "GET /a\\b HTTP/1.1", 400),
        line("RFC 3986, 2", "UTF-8", "GET /caf\u{C3}\u{A9} HTTP/1.1", 400),
        line("RFC 3986, 2", "overlong UTF-8", "GET /\u{C0}\u{AF} HTTP/1.1", 400),
        line("RFC 3986, 2", "a NUL", "GET /\0a HTTP/1.1", 400),
        line(
            "RFC 3986, 2.4: a handler decodes once", "an encoded NUL", "GET /a%00.html HTTP/1.1", 200, 200,
            answer: "GET /a%00.html "),
        line(
            "RFC 3986, 2.4", "an encoded line break", "GET /a%0d%0aX:%20y HTTP/1.1", 200, 200,
            answer: "GET /a%0d%0aX:%20y "),
        line(
            "RFC 3986, 6.2.2.3: nothing is normalised", "dot segments", "GET /a/../b HTTP/1.1", 200, 200,
            answer: "GET /a/../b "),
    ]

    private static let everyByte = String(String.UnicodeScalarView((UInt8.min...UInt8.max).map { Unicode.Scalar($0) }))
}
