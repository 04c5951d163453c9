/// What of a record is read, and from where.
public struct ReadOptions: Sendable, Hashable {
    /// Whether the upstream is asked.
    public enum Source: Sendable, Hashable {
        /// The cache; the upstream only for a record that is not cached.
        case cacheFirst
        /// The upstream first; the cache if it does not answer.
        case upstreamFirst
        /// The cache alone.
        case cacheOnly
    }

    /// Whether the upstream is asked.
    public var source = Source.cacheFirst
    /// The fields in the answer; all if empty.
    public var fields: [String] = []
    /// Relations whose records come along.
    public var include: [String] = []
    /// Whether the record comes with the labels of its enum values.
    public var hasLabels = false
    /// Whether it comes with what the upstream last sent of the pending fields.
    public var hasServer = false
    /// Parameters that are sent as they are.
    public var raw: [QueryItem] = []

    /// The whole record, from the cache if it is there.
    public init() {}

    /// The whole record with related ones.
    public init(include: String...) { self.include = include }

    var items: [QueryItem] {
        var items = QueryItem.list("fields", fields) + QueryItem.list("include", include)
        if hasLabels { items.append(QueryItem("labels", "true")) }
        if hasServer { items.append(QueryItem("server", "true")) }
        switch source {
        case .cacheFirst: break
        case .upstreamFirst: items.append(QueryItem("refresh", "true"))
        case .cacheOnly: items.append(QueryItem("refresh", "false"))
        }
        return items + raw
    }
}
