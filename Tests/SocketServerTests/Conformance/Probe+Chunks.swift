/// Chunked bodies and their trailers: RFC 9112, 7.1.
extension Probe {
    static let chunks: [Probe] = [
        chunked("RFC 9112, 7.1", "one chunk", "5\r\nhello\r\n0\r\n\r\n", 200, 200, answer: "POST / hello"),
        chunked(
            "RFC 9112, 7.1", "several chunks", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", 200, 200,
            answer: "POST / hello world"),
        chunked("RFC 9112, 7.1", "no chunk", "0\r\n\r\n", 200, 200, answer: "POST / "),
        chunked(
            "RFC 9112, 7.1", "a size in capitals", "A\r\nhelloworld\r\n0\r\n\r\n", 200, 200, answer: "POST / helloworld"
        ),
        chunked("RFC 9112, 7.1", "leading zeros", "005\r\nhello\r\n000\r\n\r\n", 200, 200, answer: "POST / hello"),
        chunked("RFC 9112, 7.1.1", "an extension", "5;a=b\r\nhello\r\n0;x\r\n\r\n", 200, 200, answer: "POST / hello"),
        chunked(
            "RFC 9112, 7.1.1", "a quoted extension", "5;a=\"b;\\\"c\"\r\nhello\r\n0\r\n\r\n", 200, 200,
            answer: "POST / hello"),
        chunked(
            "RFC 9110, 5.6.3", "space around an extension", "5 ; a = b ;c\r\nhello\r\n0\r\n\r\n", 200, 200,
            answer: "POST / hello"),
        chunked("RFC 9112, 7.1.1", "a semicolon alone", "5;\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1.1", "a name that is not a token", "5;bad[=x\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1.1", "an extension without a value", "5;a=\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1.1", "a value that is not a token", "5;a=b c\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1.1", "a quoted value that does not end", "5;a=\"b\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1.1", "a quoted value that ends in a backslash", "5;a=\"b\\\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1.1", "text after a quoted value", "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9110, 5.5", "a NUL in an extension", "5;a\0b\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9110, 5.5", "a control character in a quoted value", "5;a=\"\u{1}\"\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 2.2", "a bare CR in an extension", "5;a\rX\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1.1", "a bare LF in an extension", "5;\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "no size", "\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a space after the size", "5 \r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a space before the size", " 5\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a hexadecimal prefix", "0x5\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a plus sign", "+5\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a minus sign", "-1\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "an underscore", "1_0\r\nhello world!!!!!\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a comma", "5,5\r\nhello\r\n0\r\n\r\n", 400),
        chunked(
            "RFC 9112, 7.1: anticipate large numbers", "a size that overflows",
            "FFFFFFFFFFFFFFFF0\r\nhello\r\n0\r\n\r\n", 400),
        chunked(
            "RFC 9112, 7.1: anticipate large numbers", "a size of sixteen digits",
            "FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "data longer than its size", "5\r\nhello!!\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "no CRLF after the data", "5\r\nhello0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a bare LF after the data", "5\r\nhello\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a bare LF after the size", "5\nhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a bare CR after the size", "5\rhello\r\n0\r\n\r\n", 400),
        chunked("RFC 9112, 7.1", "a last size with a sign", "+0\r\n\r\nX", 400),
        Probe(
            "RFC 9112, 8", "no last chunk",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", [400]),
    ]

    static let trailers: [Probe] = [
        chunked(
            "RFC 9112, 7.1.2", "a trailer", "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n", 200, 200, answer: "POST / hello"),
        chunked(
            "RFC 9110, 6.5.1: never merged", "a length", "5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n", 200, 200,
            answer: "POST / hello"),
        chunked(
            "RFC 9110, 6.5.1: never merged", "a coding", "5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n", 200,
            200, answer: "POST / hello"),
        chunked(
            "RFC 9110, 6.5.1: never merged", "Host", "5\r\nhello\r\n0\r\nHost: b\r\n\r\n", 200, 200,
            answer: "POST / hello"),
        chunked(
            "RFC 9110, 6.5.1: never merged", "Authorization", "5\r\nhello\r\n0\r\nAuthorization: Bearer x\r\n\r\n", 200,
            200, answer: "POST / hello"),
        chunked(
            "RFC 9110, 6.5.1: never merged", "a type", "5\r\nhello\r\n0\r\nContent-Type: a/b\r\n\r\n", 200, 200,
            answer: "POST / hello"),
        chunked("RFC 9112, 7.1.2", "a trailer that is not a field", "0\r\nX\r\n\r\n", 400),
        chunked("RFC 9112, 5.1", "a trailer with a space before its colon", "0\r\nX : a\r\n\r\n", 400),
        chunked("RFC 9112, 5.2", "a folded trailer", "0\r\nX: a\r\n b\r\n\r\n", 400),
        chunked("RFC 9112, 2.2", "a bare LF for the last line", "5\r\nhello\r\n0\r\n\n", 400),
    ]
}
