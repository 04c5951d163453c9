/// Which records a list has, in what order, and what of each.
///
///     RecordQuery(where: .equals("status", "ready"), .isAtLeast("total", 150)).sorted(by: "-total").limited(to: 20)
public struct RecordQuery: Sendable, Hashable {
    /// What a record must meet; all of them.
    public var conditions: [Condition]
    /// Words of a full-text search.
    public var words: String?
    /// Records in this state of syncing.
    public var state: RecordState?
    /// Fields to sort by, the first one first; `-` in front means descending.
    public var sort: [String] = []
    /// The fields that a record has in the answer; all if empty.
    public var fields: [String] = []
    /// Relations whose records come along: `client`, `devices.order`.
    public var include: [String] = []
    /// Whether records come with the labels of their enum values.
    public var hasLabels = false
    /// Whether a page has the number of all records that match.
    public var hasTotal = false
    /// Records on a page, 1 to 1000; nil for the daemon's default.
    public var pageSize: Int?
    /// Parameters that are sent as they are, after all others: for what a newer daemon can do.
    public var raw: [QueryItem] = []

    /// A list of the records that meet all these conditions.
    public init(where conditions: Condition...) { self.conditions = conditions }

    /// The same list, of records that meet these conditions, too.
    public func filtered(by conditions: Condition...) -> RecordQuery { with { $0.conditions += conditions } }

    /// The same list, of records with these words.
    public func searching(_ words: String) -> RecordQuery { with { $0.words = words } }

    /// The same list in another order: `"-total"`, `"id"`.
    public func sorted(by fields: String...) -> RecordQuery { with { $0.sort = fields } }

    /// The same list, of only these fields and the key.
    public func selecting(_ fields: String...) -> RecordQuery { with { $0.fields = fields } }

    /// The same list, with related records.
    public func including(_ relations: String...) -> RecordQuery { with { $0.include += relations } }

    /// The same list on pages of this size.
    public func limited(to pageSize: Int) -> RecordQuery { with { $0.pageSize = pageSize } }

    /// The same list, with the number of all records.
    public func counted() -> RecordQuery { with { $0.hasTotal = true } }

    /// The same list, with labels.
    public func labelled() -> RecordQuery { with { $0.hasLabels = true } }

    private func with(_ change: (inout RecordQuery) -> Void) -> RecordQuery {
        var copy = self
        change(&copy)
        return copy
    }

    /// The parameters of this list.
    var items: [QueryItem] {
        var items = filters
        if let words { items.append(QueryItem("q", words)) }
        if let state { items.append(QueryItem("sync", state.rawValue)) }
        items += QueryItem.list("sort", sort) + QueryItem.list("fields", fields) + QueryItem.list("include", include)
        if hasLabels { items.append(QueryItem("labels", "true")) }
        if hasTotal { items.append(QueryItem("count", "true")) }
        if let pageSize { items.append(QueryItem("limit", String(pageSize))) }
        return items + raw
    }

    /// A parameter may come once, so a second condition of one name stands in parentheses.
    private var filters: [QueryItem] {
        var items: [QueryItem] = []
        var others: [Condition] = []
        for condition in conditions {
            if let item = condition.parameter, !items.contains(where: { $0.name == item.name }) {
                items.append(item)
            } else {
                others.append(condition)
            }
        }
        if !others.isEmpty { items.append(QueryItem("and", Condition.list(others))) }
        return items
    }
}

extension QueryItem {
    /// Names separated by commas; nothing if there are none.
    static func list(_ name: String, _ values: [String]) -> [QueryItem] {
        values.isEmpty ? [] : [QueryItem(name, values.joined(separator: ","))]
    }
}
