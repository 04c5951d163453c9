internal import JSONText

/// What a service shows and wants beyond what its schema says: which members only single records have, where they have
/// others than lists, what a call requires, and what it answers.
package struct UpstreamShape: Sendable {
    /// By entity: fields that lists do not show.
    var onlySingle: [String: Set<String>] = [:]
    /// By entity: fields that no answer shows, such as those that are only sent.
    package var hidden: [String: Set<String>] = [:]
    /// By entity: fields that only lists show.
    var onlyList: [String: Set<String>] = [:]
    /// By entity: fields that lists have under their own names, and single records at their `from`.
    package var moved: [String: Set<String>] = [:]
    /// By call, such as `POST /api/orders`.
    package var calls: [String: Call] = [:]

    package struct Call: Sendable {
        /// The body has one name of each of these groups.
        package var required: [[String]] = []
        /// Names that the service takes besides those of the schema's route.
        var alsoKnown: Set<String> = []
        /// The answer's members, each with the field that it shows; nil answers the record.
        package var answer: [(member: String, field: String)]?
        /// A create with the value of another record in this field is refused.
        package var unique: String?
        /// A create that makes other records too; see `Store.book`.
        package var books = false
    }

    package init() {}

    /// Throws for a body that lacks what the call requires, or has a name that it does not know. `names`: those of the
    /// schema's route; nil for any.
    func check(_ body: JSONText?, _ call: String, knows names: Set<String>?) throws(Refusal) {
        guard let rule = calls[call], let body else { return }
        for group in rule.required {
            let isGiven = group.contains { name in body[name].map { $0.kind != .null && $0.plain != "" } ?? false }
            guard isGiven else { throw .invalid("\(group.joined(separator: " or ")) is required") }
        }
        guard let names else { return }
        for (name, _) in body.members where !names.contains(name) && !rule.alsoKnown.contains(name) {
            throw .invalid("unknown field \(name)")
        }
    }
}
