/// How an answer says whether a request succeeded, and whom a failure concerns.
package struct AnswerPlan: Sendable, Equatable {
    /// A member of a 2xx answer that says whether a change was accepted.
    package struct Success: Sendable, Equatable {
        package var place: Place
        /// The plain texts that mean that it was; any other means that it was refused.
        package var values = ["true"]
    }

    /// The codes of errors that concern the account and not the request.
    package struct AccountErrors: Sendable, Equatable {
        package var place = Self.usualPlace
        package var codes: [String]

        static let usualPlace = Place(paths: ["code", "error.code", "error_code", "error", "type"])
    }

    /// Where an error response has its text; all that are there are shown.
    package var errorMessage: Place?
    package var success: Success?
    package var accountErrors: AccountErrors?
    /// The first that fits says what an answer means, before any other rule.
    package var rules: [AnswerRule] = []
}
