internal import EntitySchema
internal import JSONText

/// The values that the local changes of a record set, as far as they come before the one that is being merged.
struct OwnValues {
    let comparison: ValueComparison
    private var values: [String: [JSONText]] = [:]
    /// Those of changes that may have reached the server.
    private(set) var sent: [String: [JSONText]] = [:]

    init(comparison: ValueComparison) { self.comparison = comparison }

    mutating func add(_ change: OutboxTable.Entry) {
        for (field, value) in change.body.members {
            let before = change.sent(field)
            values[field, default: []] += before + [value]
            sent[field, default: []] += change.tried ? before + [value] : before
        }
    }

    func with(_ change: OutboxTable.Entry) -> OwnValues {
        var own = self
        own.add(change)
        return own
    }

    /// What was sent of a field, in the changes so far and in `change` before its present value.
    func sent(_ field: String, through change: OutboxTable.Entry) -> [JSONText] {
        sent[field, default: []] + change.sent(field)
    }

    func contains(_ value: JSONText, of field: String) -> Bool {
        values[field, default: []].contains { comparison.isSame(value, $0, of: field) }
    }
}
