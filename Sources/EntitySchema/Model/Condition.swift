/// The plain text of a field is one of `values`, or with `excluded` none of them; null is none of any. A list has a value
/// when one of its elements is it.
package struct Condition: Sendable, Equatable {
    package var field: String
    package var values: [String]
    package var excluded: Bool

    /// Stands among the values for the identity of the account whose records these are.
    package static let account = "$account"
}
