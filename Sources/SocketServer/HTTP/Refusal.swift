/// A request the server answers by itself, because no handler may see it; the connection is closed afterwards.
package struct Refusal: Error, Equatable {
    package var status: Int
    /// One sentence for the caller: what is wrong and what to do. Plain ASCII without quotes or backslashes.
    package var detail: String

    static func badRequest(_ detail: String) -> Refusal { Refusal(status: 400, detail: detail) }
    static func tooLarge(_ detail: String) -> Refusal { Refusal(status: 413, detail: detail) }

    static let timedOut = Refusal(status: 408, detail: "The request did not arrive in time; send it again.")
    static let targetTooLong = Refusal(status: 414, detail: "The request line is too long; shorten the query.")
    static let headTooLarge = Refusal(
        status: 431, detail: "The header fields are too large; send fewer or shorter ones.")
    static let unknownExpectation = Refusal(status: 417, detail: "Only the expectation 100-continue can be met.")
    static let unknownCoding = Refusal(
        status: 501, detail: "Only the transfer coding chunked is known; send the body as it is.")
    static let otherVersion = Refusal(status: 505, detail: "Only HTTP/1.1 is spoken here.")
    static let busy = Refusal(status: 503, detail: "Too many connections are open; close some or try again later.")
    static let brokenResponse = Refusal(
        status: 500, detail: "The answer could not be written as HTTP; this is a fault of the server.")
}
