package import EntitySchema

/// What a list is asked for; every name in it is checked against the schema before it meets SQL.
package struct ListQuery: Sendable, Equatable {
    package var entity: String
    package var filters: [Filter]
    /// Empty for the entity's own order.
    package var sort: [SortTerm]
    /// The only fields to show, besides the key; nil for whole records.
    package var fields: [String]?
    package var limit: Int
    package var cursor: String?
    package var sync: SyncFilter?
    /// Only records that full-text search finds.
    package var search: SearchQuery?
    /// Whether the number of all matching records is wanted too.
    package var count: Bool

    package init(
        entity: String, filters: [Filter] = [], sort: [SortTerm] = [], fields: [String]? = nil, limit: Int = 50,
        cursor: String? = nil,
        sync: SyncFilter? = nil, count: Bool = false
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

    package enum SyncFilter: String, Sendable, Equatable, CaseIterable {
        case pending, error, conflict
    }

    package struct Filter: Sendable, Equatable {
        package enum Comparison: String, Sendable, Equatable, CaseIterable {
            case equal = "eq"
            case notEqual = "ne"
            case less = "lt"
            case atMost = "lte"
            case greater = "gt"
            case atLeast = "gte"
            case null

            /// What stands between column and value; null compares with none.
            var sql: String {
                switch self {
                case .equal: "="
                case .notEqual: "<>"
                case .less: "<"
                case .atMost: "<="
                case .greater: ">"
                case .atLeast: ">="
                case .null: "IS"
                }
            }

            var isRange: Bool { [.less, .atMost, .greater, .atLeast].contains(self) }
            /// All values but one.
            var isNegation: Bool { [.notEqual, .null].contains(self) }
        }

        package var field: String
        package var comparison: Comparison
        /// As written by the caller; more than one only for `equal`, meaning any of them.
        package var values: [String]

        package init(field: String, comparison: Comparison, values: [String]) {
            self.field = field
            self.comparison = comparison
            self.values = values
        }

        /// Whether an index can go to the rows that meet it, wherever they lie.
        var isSought: Bool { comparison != .notEqual && !(comparison == .null && values.first == "false") }
    }
}

package struct ListPage: Sendable {
    /// A JSON array.
    package var records: [UInt8]
    /// How many these are.
    package var count = 0
    package var next: String?
    package var total: Int?
    /// The fields for want of whose index the whole table was read.
    package var unindexed: [String] = []
}
