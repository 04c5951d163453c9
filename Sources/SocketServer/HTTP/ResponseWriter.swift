import Glibc
import Synchronization

/// Formats the head of a response; the body is sent separately, without copying (RFC 9112, 4 and 6).
struct ResponseWriter {
    /// How the end of a body is marked.
    enum Framing: Equatable {
        case length(Int)
        case chunked
        /// No body and no length: 204 and 304 (RFC 9110, 8.6).
        case none
        /// The body ends with the connection: a stream to HTTP/1.0 (RFC 9112, 6.3).
        case closing
    }

    let date: HTTPDate

    /// Nil when the response is not valid HTTP: an invalid status, or a field that would break out of its line. `isOld`:
    /// for HTTP/1.0, whose connection closes after every answer.
    func head(of response: Response, closes: Bool, isOld: Bool = false) -> [UInt8]? {
        guard (200...599).contains(response.status) else { return nil }
        return HeadBytes.bytes(capacity: Self.mostBytes(of: response)) { head in
            head.append("HTTP/1.1 ")
            head.append(response.status)
            head.append(" ")
            head.append(Self.reason(response.status))
            head.append("\r\nDate: ")
            head.append(date.now())
            guard head.append(response.headers) else { return false }
            if let fixed = response.fixed {
                guard let bytes = fixed.bytes else { return false }
                head.append(bytes)
            }
            switch Self.framing(of: response, isOld: isOld) {
            case .length(let length):
                head.append("\r\nContent-Length: ")
                head.append(length)
            case .chunked: head.append("\r\nTransfer-Encoding: chunked")
            case .none, .closing: break
            }
            if closes { head.append("\r\nConnection: close") }
            head.append("\r\n\r\n")
            return true
        }
    }

    /// The fields of a handler, and less than 256 bytes that the server adds.
    private static func mostBytes(of response: Response) -> Int {
        256 + HeadBytes.capacity(for: response.headers) + (response.fixed?.bytes?.count ?? 0)
    }

    /// Whether the body of a response is sent to a caller who has used this method.
    static func hasBody(_ response: Response, to method: String) -> Bool {
        method != "HEAD" && framing(of: response) != .none
    }

    static func framing(of response: Response, isOld: Bool = false) -> Framing {
        guard response.status != 204, response.status != 304 else { return .none }
        if case .cutOff(let length) = response.ending { return .length(length) }
        return switch response.body {
        case .bytes(let bytes): .length(bytes.count)
        case .pieces(let length, _): .length(length)
        case .stream: isOld ? .closing : .chunked
        }
    }

    /// An error as a problem document (RFC 9457). `forgetsCookies`: cookies made the head too large, and a browser can call again
    /// without them.
    static func problem(_ refusal: Refusal, forgetsCookies: Bool = false) -> Response {
        let title = reason(refusal.status)
        let body = """
            {"type":"about:blank","title":"\(title)","status":\(refusal.status),"code":"\(refusal.code)",\
            "detail":"\(refusal.detail)"}
            """
        var response = Response(
            status: refusal.status,
            headers: [
                ("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"), ("Vary", Response.vary),
            ], body: [UInt8](body.utf8))
        if forgetsCookies, refusal == .headTooLarge {
            response.headers.append(("Clear-Site-Data", #""cookies""#))
        }
        return response
    }

    /// `chunk-size CRLF`, in front of a piece of a stream.
    static func chunkHead(size: Int) -> [UInt8] { [UInt8]((String(size, radix: 16) + "\r\n").utf8) }

    /// The standard reason phrase; empty for rare statuses, as RFC 9112, 4 allows.
    private static func reason(_ status: Int) -> StaticString {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}

/// The `Date` field of responses (RFC 9110, 6.6.1), rendered at most once a second.
final class HTTPDate: Sendable {
    private let latest = Mutex<(second: Int, text: [UInt8])>((-1, []))

    /// The current time, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    func now() -> [UInt8] {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return latest.withLock { latest in
            if latest.second != time.tv_sec { latest = (time.tv_sec, Self.text(second: time.tv_sec)) }
            return latest.text
        }
    }

    static func text(second: Int) -> [UInt8] {
        var second = second
        var parts = tm()
        gmtime_r(&second, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
        return [UInt8](
            "\(day) \(parts.tm_year + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT".utf8)
    }
}
