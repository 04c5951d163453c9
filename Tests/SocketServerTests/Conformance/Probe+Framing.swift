/// Where a body ends: RFC 9112, 6 and RFC 9110, 8.6.
extension Probe {
    static let lengths: [Probe] = [
        post("RFC 9112, 6.3", "a length", "Content-Length: 5", "hello", 200, 200, answer: "POST / hello"),
        post("RFC 9112, 6.3", "a length of zero", "Content-Length: 0", "", 200, 200, answer: "POST / "),
        post("RFC 9112, 6.3", "neither length nor coding", "", "", 200, 200, answer: "POST / "),
        post("RFC 9112, 6.3", "a request as a body", "Content-Length: \(next.utf8.count)", next, 200, 200),
        get(
            "RFC 9110, 9.3.1", "a GET with a body",
            "Host: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a", 200, 200, 200, answer: "GET / hello"),
        post(
            "RFC 9112, 5.1", "a tab before the number", "Content-Length:\t5", "hello", 200, 200, answer: "POST / hello"),
        post(
            "RFC 9112, 5.1", "space around the number", "Content-Length:  5 ", "hello", 200, 200, answer: "POST / hello"
        ),
        post(
            "RFC 9110, 8.6: 1*DIGIT, decimal", "leading zeros", "Content-Length: 0005", "hello", 200, 200,
            answer: "POST / hello"),
        post("RFC 9110, 8.6: 1*DIGIT, decimal", "two zeros", "Content-Length: 00", "", 200, 200, answer: "POST / "),
        post(
            "RFC 9110, 8.6: never octal", "010 is ten", "Content-Length: 010", "helloworld", 200, 200,
            answer: "POST / helloworld"),
        post("RFC 9110, 8.6", "a word", "Content-Length: abc", "hello", 400),
        post("RFC 9110, 8.6", "a plus sign", "Content-Length: +5", "hello", 400),
        post("RFC 9110, 8.6", "a minus sign", "Content-Length: -1", "hello", 400),
        post("RFC 9110, 8.6", "minus zero", "Content-Length: -0", "", 400),
        post("RFC 9110, 8.6", "a hexadecimal prefix", "Content-Length: 0x5", "hello", 400),
        post("RFC 9110, 8.6", "an octal prefix", "Content-Length: 0o5", "hello", 400),
        post("RFC 9110, 8.6", "an underscore", "Content-Length: 1_0", "helloworld", 400),
        post("RFC 9110, 8.6", "a space inside", "Content-Length: 1 0", "helloworld", 400),
        post("RFC 9110, 8.6", "an exponent", "Content-Length: 1e1", "helloworld", 400),
        post("RFC 9110, 8.6", "another script's digit", "Content-Length: \u{EF}\u{BC}\u{95}", "hello", 400),
        post("RFC 9110, 8.6", "nothing", "Content-Length:", "", 400),
        post("RFC 9112, 6.3", "a list of different lengths", "Content-Length: 5, 10", "helloworld", 400),
        post("RFC 9112, 6.3: may be refused", "a list of one length", "Content-Length: 5, 5", "hello", 400),
        post("RFC 9112, 6.3", "two different lengths", "Content-Length: 5\r\nContent-Length: 10", "helloworld", 400),
        post(
            "RFC 9112, 6.3: may be refused", "one length twice", "Content-Length: 5\r\nContent-Length: 5", "hello", 400),
        post(
            "RFC 9110, 5.1", "a length with an underscore in its name is another field",
            "Content-Length: 5\r\nContent_Length: 99", "hello", 200, 200, answer: "POST / hello"),
        post(
            "RFC 9112, 5.1", "a length with a space before its colon", "Content-Length: 5\r\nContent-Length : 3",
            "hello", 400),
        post("RFC 9110, 5.1", "a tab in the name", "Content-Length: 5\r\nContent\tLength: 3", "hello", 400),
        Probe("RFC 9112, 8", "a body cut short", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", [400]),
        Probe(
            "RFC 9112, 6.3", "a byte after a body of zero",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n\u{0}\(next)", [200, 400]),
    ]

    static let codings: [Probe] = [
        post(
            "RFC 9112, 7", "chunked in capitals", "Transfer-Encoding: CHUNKED", "5\r\nhello\r\n0\r\n\r\n", 200, 200,
            answer: "POST / hello"),
        post(
            "RFC 9110, 5.1", "the name in capitals", "TRANSFER-ENCODING: chunked", "5\r\nhello\r\n0\r\n\r\n", 200, 200,
            answer: "POST / hello"),
        post("RFC 9112, 5.1", "a tab before the coding", "Transfer-Encoding:\tchunked \t", "0\r\n\r\n", 200, 200),
        post("RFC 9112, 6.3", "an unknown coding alone", "Transfer-Encoding: gzip", "0\r\n\r\n", 400),
        post("RFC 9112, 6.1", "an unknown coding before chunked", "Transfer-Encoding: gzip, chunked", "0\r\n\r\n", 501),
        post("RFC 9112, 6.3", "a coding after chunked", "Transfer-Encoding: chunked, gzip", "0\r\n\r\n", 400),
        post("RFC 9112, 6.3", "a coding that ends like chunked", "Transfer-Encoding: xchunked", "0\r\n\r\n", 400),
        post("RFC 9112, 7.1: at most once", "chunked twice", "Transfer-Encoding: chunked, chunked", "0\r\n\r\n", 400),
        post("RFC 9112, 7", "identity", "Transfer-Encoding: identity", "0\r\n\r\n", 400),
        post("RFC 9112, 6.3", "nothing", "Transfer-Encoding:", "0\r\n\r\n", 400),
        post("RFC 9110, 5.6.1.2", "a comma before chunked", "Transfer-Encoding: , chunked", "0\r\n\r\n", 400),
        post("RFC 9110, 5.6.1.2", "a comma after chunked", "Transfer-Encoding: chunked,", "0\r\n\r\n", 400),
        post(
            "RFC 9112, 7.1: no parameters", "chunked with a parameter", "Transfer-Encoding: chunked;a=b", "0\r\n\r\n",
            400),
        post("RFC 9112, 7", "chunked in quotes", "Transfer-Encoding: \"chunked\"", "0\r\n\r\n", 400),
        post("RFC 9110, 5.5", "a vertical tab before chunked", "Transfer-Encoding: \u{0B}chunked", "0\r\n\r\n", 400),
        post("RFC 9110, 5.5", "a form feed before chunked", "Transfer-Encoding: \u{0C}chunked", "0\r\n\r\n", 400),
        post("RFC 9110, 5.5", "a NUL after chunked", "Transfer-Encoding: chunked\0", "0\r\n\r\n", 400),
        post("RFC 9112, 5.1", "a space before the colon", "Transfer-Encoding : chunked", "0\r\n\r\n", 400),
        post("RFC 9112, 5.2", "a folded coding", "Transfer-Encoding:\r\n chunked", "0\r\n\r\n", 400),
        post(
            "RFC 9112, 6.1", "two fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 400),
        post(
            "RFC 9112, 6.1", "two different fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            "0\r\n\r\n", 400),
        post(
            "RFC 9110, 5.1", "a coding with an underscore in its name is another field",
            "Transfer_Encoding: chunked\r\nContent-Length: 5", "hello", 200, 200, answer: "POST / hello"),
    ]
}
