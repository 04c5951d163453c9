import Testing

/// The bytes that one connection sends, and the statuses it gets before the server closes.
///
/// The chapters are in `Probe+….swift`. docs/http.md lists where the server is stricter than a rule asks.
struct Probe: Sendable, CustomTestStringConvertible {
    /// The rule that decides, such as `RFC 9112, 3.2`.
    let rule: String
    let name: String
    /// One byte for each scalar of the text that it was made from, so any byte can be written.
    let input: [UInt8]
    let statuses: [Int]
    /// The body of the first answer, where it matters: the test's server describes the request that it understood.
    let answer: String?

    var testDescription: String { "\(name) (\(rule))" }

    init(_ rule: String, _ name: String, _ input: String, _ statuses: [Int], answer: String? = nil) {
        self.rule = rule
        self.name = name
        self.input = input.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        self.statuses = statuses
        self.answer = answer
    }

    static let all: [Probe] =
        requestLines + targets + hosts + fields + lengths + codings + chunks + trailers + smuggling + connections
        + limits

    // MARK: Making one

    /// Follows each probe: where the probe is refused, an answer to it would be an answer to smuggled bytes.
    static let next = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    /// A request with this request line.
    static func line(_ rule: String, _ name: String, _ line: String, _ statuses: Int..., answer: String? = nil) -> Probe
    {
        Probe(rule, name, "\(line)\r\nHost: a\r\n\r\n\(next)", statuses, answer: answer)
    }

    /// A GET with these fields, and no others.
    static func get(_ rule: String, _ name: String, _ fields: String, _ statuses: Int..., answer: String? = nil)
        -> Probe
    {
        Probe(rule, name, "GET / HTTP/1.1\r\n\(fields)\r\n\r\n\(next)", statuses, answer: answer)
    }

    /// A POST with these fields and Host, and this body.
    static func post(
        _ rule: String, _ name: String, _ fields: String, _ body: String, _ statuses: Int..., answer: String? = nil
    ) -> Probe {
        let head = "POST / HTTP/1.1\r\nHost: a\r\n" + (fields.isEmpty ? "" : fields + "\r\n")
        return Probe(rule, name, "\(head)\r\n\(body)\(next)", statuses, answer: answer)
    }

    /// A POST with this chunked body.
    static func chunked(
        _ rule: String, _ name: String, _ body: String, _ statuses: Int..., answer: String? = nil
    ) -> Probe {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        return Probe(rule, name, head + body + next, statuses, answer: answer)
    }

    static func long(_ count: Int) -> String { String(repeating: "a", count: count) }
}
