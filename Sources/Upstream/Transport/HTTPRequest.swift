internal import EntitySchema
internal import JSONText

/// One HTTP request with its limits.
package struct HTTPRequest: Sendable, Equatable {
    package var method: String
    /// Absolute, with scheme and host.
    package var url: String
    package var headers: [HTTPHeader]
    package var body: [UInt8]?
    /// The body instead of `body`, when it is too large to hold in memory.
    package var source: BodySource?
    /// Takes the body of a 2xx response, which then comes without one.
    package var sink: BodySink?
    /// The longest time without any progress; nil for as long as the deadline.
    package var stall: Duration?
    /// Refuses addresses that only this machine or its network can reach.
    package var isPublicOnly = false
    /// Of these, allows those of this machine's loopback.
    package var mayReachThisMachine = false
    /// For the whole exchange: name lookup, connection, request and every byte of the response.
    package var deadline: Duration
    /// The largest decoded body that is accepted, in bytes.
    package var maximumBody: Int
    /// The response's body is of use only as a whole: one that could have been cut unnoticed is refused.
    var mustBeWhole = false
    /// The response's body goes on for as long as the upstream likes. A compressed one is refused: a small piece of it
    /// could keep the thread of all requests busy for minutes.
    var isEndless = false
    /// Each sending counts, so the transport never repeats it by itself, not even on a kept connection that was dead.
    var isSentOnce = false
    /// It changes nothing at the upstream although its method might.
    var isReading = false

    package init(
        method: String = "GET", url: String, headers: [HTTPHeader] = [], body: [UInt8]? = nil,
        deadline: Duration = .seconds(30), maximumBody: Int = 8 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.deadline = deadline
        self.maximumBody = maximumBody
    }

    /// `base` goes before the request's path.
    init(_ request: WireRequest, base: String = "", deadline: Duration) {
        self.init(
            method: request.method, url: base + request.path,
            headers: request.headers.map { HTTPHeader($0.name, $0.value) },
            body: request.body.map { Array($0.bytes) } ?? request.text.map { Array($0.utf8) },
            deadline: deadline)
        isReading = request.isReading
    }
}

extension HTTPRequest {
    /// The most bytes of a URL and of a header's value. Servers accept less, and libcurl reports longer ones as a lack of
    /// memory.
    private static let longestText = 64 << 10

    /// Why this request must not be sent, or nil. Names no value, because values hold credentials.
    var refusal: String? {
        if !HTTPSyntax.isToken(method) { return "its method is not a token" }
        if !HTTPSyntax.isSameName(String(url.prefix(7)), "http://"),
            !HTTPSyntax.isSameName(String(url.prefix(8)), "https://")
        {
            return "its URL does not begin with http:// or https://"
        }
        if url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            return "its URL contains a space or a control character"
        }
        if url.utf8.count > Self.longestText { return "its URL has more than \(Self.longestText) bytes" }
        for header in headers {
            if !HTTPSyntax.isToken(header.name) { return "the name of one of its headers is not a token" }
            if !HTTPSyntax.isFieldValue(header.value) {
                return "its header \(header.name) contains a line break or a NUL"
            }
            if header.value.utf8.count > Self.longestText {
                return "its header \(header.name) has more than \(Self.longestText) bytes"
            }
        }
        return nil
    }

    /// Host and port as the URL has them, for messages: without user, password, path or query. A URL that is refused may
    /// lack its scheme.
    var host: String {
        func part(_ text: Substring.UTF8View) -> Substring.UTF8View { text.prefix { !"/?#\\".utf8.contains($0) } }
        let first = part(url[...].utf8)
        let rest = url.utf8[first.endIndex...]
        let isScheme = first.isEmpty || first.last == UInt8(ascii: ":")
        let authority = isScheme && rest.starts(with: "//".utf8) ? part(rest.dropFirst(2)) : first
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
        return String(decoding: host, as: UTF8.self).cut(toScalars: 300)
    }

    /// Whether the method changes nothing at the upstream (RFC 9110, 9.2.1), so that sending it twice does no harm.
    var isSafe: Bool { isReading || ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }

    func hasHeader(_ name: String) -> Bool { headers.contains { HTTPSyntax.isSameName($0.name, name) } }
}
