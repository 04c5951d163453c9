internal import EntitySchema
internal import JSONText
internal import SocketServer

/// The response to a request, before any fault changes it.
struct Answer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// How much of the body arrives.
    var ending = Response.Ending.complete
    /// This request itself changed something.
    var applied = false
    /// What of the body was applied, if not all of it.
    var appliedText: String?
    /// The source of signals whose stream is the body.
    var stream: Int?

    static func json(_ status: Int, _ body: JSONText) -> Answer {
        Answer(status: status, headers: [("Content-Type", "application/json")], body: Array(body.bytes))
    }

    static func lines(_ values: some Sequence<JSONText>) -> Answer {
        var body: [UInt8] = []
        for value in values {
            body += value.bytes
            body.append(UInt8(ascii: "\n"))
        }
        return Answer(status: 200, headers: [("Content-Type", "application/x-ndjson")], body: body)
    }

    static func refusal(_ refusal: Refusal, _ envelope: Envelope) -> Answer {
        var answer = json(refusal.status, envelope.error(refusal))
        if !refusal.allowed.isEmpty { answer.headers.append(("Allow", refusal.allowed.joined(separator: ", "))) }
        if refusal.status == 401 { answer.headers.append(("WWW-Authenticate", envelope.plan.tokenPlace.challenge)) }
        return answer
    }

    var response: Response {
        var response = Response(status: status, headers: headers, body: body)
        response.ending = ending
        return response
    }
}
