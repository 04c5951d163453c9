package import JSONText

/// What an answer means, by its status, headers and members: a rule of `upstream.answers`.
package struct AnswerRule: Sendable, Equatable {
    package enum Meaning: String, Sendable, Equatable, CaseIterable {
        /// The request succeeded, whatever the status says.
        case ok
        /// Someone must correct the change.
        case refused
        /// The account may not go on; the queue waits.
        case hold
        /// The token is not accepted.
        case signedOut = "signed_out"
        /// Too many requests; nothing is sent until a time.
        case throttled
        /// The target of the request is locked for a while; nothing was applied.
        case locked
        /// There is no such record.
        case gone
        /// The record has changed.
        case changed
        /// It may have been applied or not.
        case unclear
        /// It was sent before, and the upstream does nothing more under its idempotency key. Whether it was applied is not known.
        case repeated
    }

    /// A header and the values that it may have, with or without parameters; none for any value.
    package struct Header: Sendable, Equatable {
        package var name: String
        package var values: [String]

        func holds(_ value: String) -> Bool {
            values.isEmpty || values.contains(value) || values.contains(String(value.prefix { $0 != ";" }))
        }
    }

    /// A member of the body and the plain texts that it may have; nil stands for null or missing.
    package struct Member: Sendable, Equatable {
        package var place: Place
        package var values: [String?]
        /// True if it must have none of the values.
        package var isExcluded: Bool

        package func holds(in body: JSONText) -> Bool {
            let found = place.paths.map { path in body.at(path: path).flatMap { $0.kind == .null ? nil : $0.plain } }
            return values.contains { value in
                value == nil ? found.allSatisfy { $0 == nil } : found.contains(value)
            } != isExcluded
        }
    }

    /// Where an answer says how long to wait.
    package enum Until: Sendable, Equatable {
        case header(String)
        case member(Place)
    }

    /// Empty for any status.
    package var statuses: [ClosedRange<Int>]
    package var headers: [Header]
    package var members: [Member]
    package var means: Meaning
    package var until: Until?

    /// `body` is called only if the rule asks for members; nil stands for a body that is not JSON.
    package func fits(status: Int, header: (String) -> String?, body: () -> JSONText?) -> Bool {
        guard statuses.isEmpty || statuses.contains(where: { $0.contains(status) }) else { return false }
        let hasHeaders = headers.allSatisfy { rule in
            header(rule.name).map(rule.holds) ?? false
        }
        guard hasHeaders else { return false }
        guard !members.isEmpty else { return true }
        return body().map { body in members.allSatisfy { $0.holds(in: body) } } ?? false
    }
}
