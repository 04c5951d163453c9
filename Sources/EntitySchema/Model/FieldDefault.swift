package import JSONText

/// What a field of a record that is created here shows until the server says something else.
package struct FieldDefault: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        case value(JSONText)
        /// The time of the creation, by the server's clock.
        case now
        /// Text with `{fields}` of the record or, with a dot, of a record that it refers to (`{client.first_name}`).
        case text(TextPattern)
    }

    /// In a text: the name of the person or company that is signed in.
    package static let accountName = "$account.name"

    package var value: Value
    /// Sent with the creation, as if the caller had written it.
    package var isSent = false
}
