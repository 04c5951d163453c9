/// Why the last attempt did not end a queued change: `error_class` in the queue, `class` in the local API.
///
/// No enum, because a database may have the classes of another version.
package struct ErrorClass: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    // MARK: What the upstream answered

    /// The upstream, or the server's rules, do not take this change.
    package static let refused = ErrorClass(rawValue: "refused")
    /// It was made on another version of the record, or its record exists already.
    package static let conflict = ErrorClass(rawValue: "conflict")
    /// The upstream does not have the record.
    package static let gone = ErrorClass(rawValue: "gone")
    /// The upstream does not let the account, or a gateway anyone, change anything now.
    package static let barred = ErrorClass(rawValue: "barred")
    /// The upstream does not accept the token.
    package static let unauthorized = ErrorClass(rawValue: "unauthorized")
    /// The upstream asked for a pause.
    package static let throttled = ErrorClass(rawValue: "throttled")
    /// The upstream failed, so it is not known whether the change was applied.
    package static let server = ErrorClass(rawValue: "server")
    /// The upstream failed under this idempotency key, and keeps that answer: the change is looked up, or its record is read,
    /// and it goes out under another key.
    package static let repeated = ErrorClass(rawValue: "repeated")
    /// There was no whole answer, so it is not known whether the change was applied.
    package static let timeout = ErrorClass(rawValue: "timeout")
    /// The answer is not one to a change.
    package static let malformed = ErrorClass(rawValue: "malformed")

    // MARK: What is not known of a creation

    /// The upstream accepted it and does not list it yet: it is looked for, and not sent again.
    package static let accepted = ErrorClass(rawValue: "accepted")
    /// Its answer was lost, and the upstream may have it without showing it yet: it is looked for. Also the
    /// class of an edit or a deletion of a record that was created a moment ago and that the upstream does not show yet.
    package static let unseen = ErrorClass(rawValue: "unseen")
    /// Whether the upstream has it cannot be found out: a person has to.
    package static let unclear = ErrorClass(rawValue: "unclear")

    // MARK: What was not sent

    /// The schema has no route for it, or the request would be invalid.
    package static let unsendable = ErrorClass(rawValue: "unsendable")
    /// It has a secret that cannot be opened.
    package static let sealed = ErrorClass(rawValue: "sealed")
    /// It lacks the content that it is sent with; never stored.
    package static let content = ErrorClass(rawValue: "content")
    /// The schema no longer has its entity; never stored.
    package static let schema = ErrorClass(rawValue: "schema")
}
