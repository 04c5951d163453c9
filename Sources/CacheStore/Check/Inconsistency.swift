/// Two things in a database that must agree and do not.
///
/// It names what disagrees and on which record, never a value: that may be a secret.
package struct Inconsistency: Sendable, Equatable, CustomStringConvertible {
    /// What is kept twice.
    package enum Part: String, Sendable, CaseIterable {
        /// A field's column, and the field in the document.
        case column
        /// The mark of a record that the server has in another place, and the references in both versions.
        case displaced
        /// The record that readers see, and the queued changes over what the server said.
        case overlay
        /// The derived fields, and the records that they are computed from.
        case derived
        /// A stored count, and the rows that it counts.
        case counter
        /// The uses of a content, and the records and changes that refer to it.
        case content
        /// The search index, and the texts of the records.
        case search
        /// The reminders, and the records that match their rules.
        case reminder
    }

    package var part: Part
    /// `orders/7`, `orders`, or another part of the database.
    package var place: String
    package var problem: String

    package var description: String { "\(place): \(problem)" }
}

/// Collects the first inconsistencies.
struct Inconsistencies {
    private(set) var found: [Inconsistency] = []
    private let limit: Int

    init(atMost limit: Int) { self.limit = limit }

    var isFull: Bool { found.count >= limit }

    mutating func add(_ part: Inconsistency.Part, _ place: String, _ problem: String) {
        guard !isFull else { return }
        found.append(Inconsistency(part: part, place: place, problem: problem))
    }
}
