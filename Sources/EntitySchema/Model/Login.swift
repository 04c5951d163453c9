/// One way to get the first tokens, which needs a person: calls one after the other, the last of which answers tokens.
package struct LoginWay: Sendable, Equatable {
    /// What a person chooses it by: `password`, `magic_link`.
    package var name: String
    package var steps: [LoginStep]

    /// What the person is asked, in the order of asking.
    package var questions: [LoginStep.Question] { steps.flatMap(\.questions) }
}

/// One call of a sign-in: `POST path {questions and sent values}`.
///
/// An answer that holds a token ends the sign-in, whatever steps are left.
package struct LoginStep: Sendable, Equatable {
    package struct Question: Sendable, Equatable {
        /// The name under which the answer is sent, here and wherever a later step sends it again.
        package var name: String
        /// What the person reads.
        package var text: String
        /// Not to be shown while it is typed.
        package var secret: Bool
    }

    /// A part of an answer that later steps send.
    package struct Keepsake: Sendable, Equatable {
        package var name: String
        package var place: Place
    }

    package var path: String
    package var questions: [Question]
    /// Names of what was asked or kept before.
    package var send: [String]
    package var keep: [Keepsake]
}
