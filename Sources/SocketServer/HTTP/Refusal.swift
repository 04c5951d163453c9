/// A request that the server itself rejects before any handler sees it; the connection is closed afterwards.
package struct Refusal: Error, Equatable {
    package var status: Int
    /// A sentence for the caller that says what is wrong and what to do. Plain ASCII without quotes or backslashes.
    package var detail: String

    /// What is wrong, for programs.
    var code: String {
        switch status {
        case 400: "malformed_request"
        case 408: "request_timeout"
        case 413: "content_too_large"
        case 414: "target_too_long"
        case 417: "unknown_expectation"
        case 431: "head_too_large"
        case 501: "unknown_coding"
        case 503: "unavailable"
        case 505: "unknown_version"
        default: "server_error"
        }
    }

    static func badRequest(_ detail: String) -> Refusal { Refusal(status: 400, detail: detail) }
    static func tooLarge(_ detail: String) -> Refusal { Refusal(status: 413, detail: detail) }

    static let timedOut = Refusal(status: 408, detail: "The request did not arrive in time; send it again.")
    static let targetTooLong = Refusal(status: 414, detail: "The request line is too long; shorten the query.")
    static let headTooLarge = Refusal(
        status: 431, detail: "The header fields are too large; send fewer or shorter ones.")
    static let unknownExpectation = Refusal(status: 417, detail: "Only the expectation 100-continue is supported.")
    static let unknownCoding = Refusal(
        status: 501, detail: "Only the transfer coding chunked is supported; send the body unencoded.")
    static let otherVersion = Refusal(
        status: 505, detail: "Only HTTP/1.1 and HTTP/1.0 are supported.")
    static let busy = Refusal(status: 503, detail: "Too many connections are open; close some or try again later.")
    static let bodiesFull = Refusal(
        status: 503, detail: "The bodies of other requests take all the memory for them; try again in a second.")
    static let brokenResponse = Refusal(
        status: 500, detail: "The response could not be written as HTTP; this is a server error.")
}
