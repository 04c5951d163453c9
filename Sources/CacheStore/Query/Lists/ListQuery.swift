package import EntitySchema

/// A request for a list; every name in it is checked against the schema before it reaches SQL.
package struct ListQuery: Sendable, Equatable {
    package var entity: String
    package var filters: [FilterCondition]
    /// Empty for the entity's own order.
    package var sort: [SortTerm]
    /// The only fields to show, besides the key; nil for whole records.
    package var fields: [String]?
    package var limit: Int
    package var cursor: String?
    package var sync: SyncFilter?
    /// Only records that full-text search finds.
    package var search: SearchQuery?
    /// Whether to count all matching records too.
    package var count: Bool
    /// Whether to show the labels of enum values too, in `_labels`.
    package var labels = false
    /// A page ends once its records have this many bytes.
    package var mostBytes = ListPage.mostBytes

    package init(
        entity: String, filters: [FilterCondition] = [], sort: [SortTerm] = [], fields: [String]? = nil,
        limit: Int = 50, cursor: String? = nil, sync: SyncFilter? = nil, count: Bool = false
    ) {
        self.entity = entity
        self.filters = filters
        self.sort = sort
        self.fields = fields
        self.limit = limit
        self.cursor = cursor
        self.sync = sync
        self.count = count
    }

    /// Whether the search index has a part in it, and so has to be up to date.
    package var usesSearch: Bool { search != nil || filters.contains(where: \.usesSearch) }

    /// A state that `_sync.state` shows.
    package enum SyncFilter: String, Sendable, Equatable, CaseIterable {
        case synced
        /// With queued changes, and neither of the last two; also those of `uploading`.
        case pending
        case uploading, conflict, error

        /// Whether the queue shows which records these are. All others are synced.
        var isSought: Bool { self != .synced }
    }
}

package struct ListPage: Sendable {
    /// A page ends once its records have this many bytes, so that a list of large ones cannot fill the memory. Included
    /// records may take as many again.
    static let mostBytes = 4 << 20

    /// The records as a JSON array, after the opening that the caller asked for.
    package var records: [UInt8]
    /// The number of records.
    package var count = 0
    package var next: String?
    package var total: Int?
    /// The fields without an index that made the query read the whole table.
    package var unindexed: [String] = []
    /// False until the entity's first load has ended: records are missing, and lists may have to sort.
    package var isComplete = true
}
