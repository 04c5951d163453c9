/// Host and the syntax of header fields: RFC 9112, 3.2 and 5.
extension Probe {
    static let hosts: [Probe] = [
        get("RFC 9112, 3.2", "no Host", "Accept: a", 400),
        get("RFC 9112, 3.2", "two Hosts", "Host: a\r\nHost: b", 400),
        get("RFC 9112, 3.2", "the same Host twice", "Host: a\r\nHost: a", 400),
        get("RFC 9112, 3.2", "two spellings of Host", "Host: a\r\nhOST: a", 400),
        get("RFC 9112, 3.2", "an empty Host", "Host:", 400),
        get("RFC 9110, 7.2", "a path", "Host: a/b", 400),
        get("RFC 9110, 7.2", "user information", "Host: u@a", 400),
        get("RFC 9110, 7.2", "a list", "Host: a, b", 400),
        get("RFC 9110, 7.2", "a port that is no number", "Host: a:b", 400),
        get("RFC 9110, 7.2", "two ports", "Host: a:1:2", 400),
        get("RFC 9110, 7.2", "an address that does not end", "Host: [::1", 400),
        get("RFC 9110, 7.2", "text after an address", "Host: [::1]a", 400),
        get("RFC 9110, 7.2", "a port", "Host: a.example:80", 200, 200),
        get("RFC 9110, 7.2", "an IPv6 address", "Host: [::1]:80", 200, 200),
        get("RFC 9110, 7.2: a space is not trimmed inside", "a space in Host", "Host: a b", 400),
    ]

    static let fields: [Probe] = [
        get("RFC 9112, 5.1", "tabs and spaces around a value", "Host: \t a \t", 200, 200),
        get("RFC 9110, 5.1", "names without regard to case", "hOsT: a", 200, 200),
        get("RFC 9110, 5.5", "an empty value", "Host: a\r\nX:", 200, 200),
        get(
            "RFC 9110, 5.5: obs-text is opaque", "bytes beyond ASCII in a value", "Host: a\r\nX: \u{E9}\u{FF}", 200, 200
        ),
        get("RFC 9112, 5.2", "a folded field", "Host: a\r\nX: a\r\n b", 400),
        get("RFC 9112, 5.2", "a field folded by a tab", "Host: a\r\nX: a\r\n\tb", 400),
        get("RFC 9112, 2.2", "a fold at the start", " Host: a", 400),
        get("RFC 9112, 2.2", "a line of space at the start", " \r\nHost: a", 400),
        get("RFC 9112, 5.1", "a space before the colon", "Host: a\r\nX : a", 400),
        get("RFC 9112, 5.1", "a tab before the colon", "Host: a\r\nX\t: a", 400),
        get("RFC 9112, 5", "a field without a colon", "Host: a\r\nX", 400),
        get("RFC 9112, 5", "a field without a name", "Host: a\r\n: a", 400),
        get("RFC 9110, 5.1", "a bracket in a name", "Host: a\r\nBad[Name: a", 400),
        get("RFC 9110, 5.1", "a space in a name", "Host: a\r\nX Y: a", 400),
        get("RFC 9110, 5.1", "UTF-8 in a name", "Host: a\r\nX-T\u{C3}\u{AB}st: a", 400),
        get("RFC 9110, 5.1", "a NUL in a name", "Host: a\r\nX\0: a", 400),
        get("RFC 9110, 5.5", "a NUL in a value", "Host: a\r\nX: a\0b", 400),
        get("RFC 9110, 5.5", "a bare CR in a value", "Host: a\r\nX: a\rb", 400),
        get("RFC 9110, 5.5", "a bell in a value", "Host: a\r\nX: a\u{07}b", 400),
        get("RFC 9110, 5.5", "a vertical tab in a value", "Host: a\r\nX: a\u{0B}b", 400),
        get("RFC 9110, 5.5", "a DEL in a value", "Host: a\r\nX: a\u{7F}b", 400),
        get("RFC 9110, 5.5", "a NUL in a cookie", "Host: a\r\nCookie: a=\0b", 400),
        get("RFC 9110, 5.5", "control characters in a cookie", "Host: a\r\nCookie: a=\u{1}\u{2}\u{3}", 400),
        get(
            "RFC 6265, 5.4: cookies are ignored", "cookies", "Host: a\r\nCookie: a=1\r\nCookie: ===;;;\r\nCookie:", 200,
            200),
        get("RFC 9112, 2.2: a bare LF may be refused", "a bare LF after a field", "Host: a\nX: a", 400),
        Probe("RFC 9112, 2.2: a bare LF may be refused", "bare LFs only", "GET / HTTP/1.1\nHost: a\n\n", [400]),
        Probe("RFC 9112, 2.2", "bare CRs only", "GET / HTTP/1.1\rHost: a\r\r", [400]),
    ]
}
