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
        for (field, _) in change.body.members where change.sent != nil {
            values[field, default: []] += change.sent(field)
            sent[field, default: []] += change.sent(field)
        }
        for (field, value) in change.body.members {
            values[field, default: []].append(value)
            if change.tried { sent[field, default: []].append(value) }
        }
    }

    func with(_ change: OutboxTable.Entry) -> OwnValues {
        var own = self
        own.add(change)
        return own
    }

    func contains(_ value: JSONText, of field: String) -> Bool {
        values[field, default: []].contains { comparison.isSame(value, $0, of: field) }
    }
}
