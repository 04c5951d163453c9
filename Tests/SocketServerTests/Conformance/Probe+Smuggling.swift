/// Requests with two readings, one of which has another request in it: RFC 9112, 11.2. None is ever answered.
extension Probe {
    static let smuggling: [Probe] = [
        both("length and coding", "Content-Length: 6\r\nTransfer-Encoding: chunked"),
        both("coding and length", "Transfer-Encoding: chunked\r\nContent-Length: 6"),
        both("a coding in capitals", "Content-Length: LENGTH\r\nTransfer-Encoding: CHUNKED"),
        both("a coding with a space after it", "Content-Length: LENGTH\r\nTransfer-Encoding: chunked "),
        both("a coding with a comma before it", "Content-Length: LENGTH\r\nTransfer-Encoding: , chunked"),
        both("a coding with a comma after it", "Content-Length: LENGTH\r\nTransfer-Encoding: chunked,"),
        both("a coding with a tab before it", "Content-Length: LENGTH\r\nTransfer-Encoding:\tchunked"),
        both("a folded coding", "Transfer-Encoding:\r\n chunked\r\nContent-Length: LENGTH"),
        both("a misspelt coding", "Transfer-Encoding: xchunked\r\nContent-Length: LENGTH"),
        both("chunked twice", "Transfer-Encoding: chunked, chunked\r\nContent-Length: LENGTH"),
        both("a coding with a parameter", "Transfer-Encoding: chunked;a=b\r\nContent-Length: LENGTH"),
        both("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: LENGTH"),
        both("identity", "Transfer-Encoding: identity\r\nContent-Length: LENGTH"),
        both("an empty coding", "Transfer-Encoding:\r\nContent-Length: LENGTH"),
        both("a length with a sign", "Content-Length: +LENGTH\r\nTransfer-Encoding: chunked"),
        both("a length and a letter", "Content-Length: LENGTHx\r\nTransfer-Encoding: chunked"),
        both("a coding with a space before its colon", "Content-Length: LENGTH\r\nTransfer-Encoding : chunked"),
        both("a coding behind a bare CR", "Content-Length: LENGTH\r\nX: a\rTransfer-Encoding: chunked"),
        both("a coding behind a NUL", "Content-Length: LENGTH\r\nX: a\0\r\nTransfer-Encoding: chunked"),
        both("OPTIONS", "Transfer-Encoding: chunked\r\nContent-Length: LENGTH", method: "OPTIONS"),
        both("HEAD", "Transfer-Encoding: chunked\r\nContent-Length: LENGTH", method: "HEAD"),
        post("RFC 9112, 6.3", "two lengths around a request", "Content-Length: 4\r\nContent-Length: 43", "PING", 400),
        post("RFC 9112, 6.3", "a list of two lengths around a request", "Content-Length: 4, 43", "PING", 400),
        chunked("RFC 9112, 7.1", "a request behind a size with a sign", "+0\r\n\r\n", 400),
        Probe(
            "RFC 9110, 9.3.1: the body of a GET is read", "a GET whose body begins a request",
            "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 27\r\n\r\nGET /smuggled HTTP/1.1\r\nX: \(next)", [200, 200],
            answer: "GET /a GET /smuggled HTTP/1.1\r\nX: "),
        Probe(
            "RFC 9110, 9.3.2: the body of a HEAD is read", "a HEAD with a body",
            "HEAD /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\(next)", [200, 200]),
        Probe(
            "RFC 9110, 9.3.7: the body of an OPTIONS is read", "an OPTIONS with a body",
            "OPTIONS /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\(next)", [200, 200],
            answer: "OPTIONS /a hello"),
        Probe(
            "RFC 9110, 9.3.8: the server does not know TRACE", "a TRACE with a body",
            "TRACE /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\(next)", [200, 200],
            answer: "TRACE /a hello"),
        Probe(
            "RFC 9112, 6.3", "a byte left over from a body",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nhello\(next)", [200, 200], answer: "POST / hell"),
    ]

    /// A request with both framings, refused with 400. `LENGTH` in its fields is the length of its body.
    private static func both(_ name: String, _ fields: String, method: String = "POST") -> Probe {
        let body = "0\r\n\r\n" + next
        let all = fields.split(separator: "LENGTH", omittingEmptySubsequences: false).joined(
            separator: String(body.unicodeScalars.count))
        let head = "\(method) / HTTP/1.1\r\nHost: a\r\n\(all)\r\n\r\n"
        return Probe("RFC 9112, 6.1 and 6.3", name, head + body + next, [400])
    }
}
