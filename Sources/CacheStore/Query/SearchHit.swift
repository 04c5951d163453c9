/// One record that a search found.
package struct SearchHit: Sendable, Equatable {
    package var entity: String
    package var key: String
    /// The record's name, as users know it.
    package var title: String
    /// The matching text with the match between « and »; empty when it cannot be shown.
    package var snippet: String
}
