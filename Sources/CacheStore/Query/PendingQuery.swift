package import EntitySchema

/// A request for the queue; every name in it is checked before it reaches SQL.
package struct PendingQuery: Sendable, Equatable {
    /// Each on one of `PendingQuery.filters`, by one of `comparisons`.
    package var filters: [FilterComparison]
    /// Only changes of the record with this key; a former key is followed.
    package var record: String?
    /// Empty for the order in which the changes were made.
    package var sort: [SortTerm]
    package var limit: Int
    package var cursor: String?
    package var onlyWithErrors: Bool

    package init(
        filters: [FilterComparison] = [], record: String? = nil, sort: [SortTerm] = [], limit: Int = 50,
        cursor: String? = nil, onlyWithErrors: Bool = false
    ) {
        self.filters = filters
        self.record = record
        self.sort = sort
        self.limit = limit
        self.cursor = cursor
        self.onlyWithErrors = onlyWithErrors
    }

    /// What it can be filtered by.
    package static let filters = ["entity", "state", "retry_count"]

    package static let comparisons: [FilterComparison.Operation] = [
        .equal, .notEqual, .less, .atMost, .greater, .atLeast, .null,
    ]

    /// The names of all its parameters.
    package static let parameters = ["entity", "state", "record", "retry_count", "sort", "limit", "cursor"]

    /// The state of a change as callers see it: that of the queue, or `blocked`.
    package enum State: String, Sendable, CaseIterable {
        case queued, uploading, waiting, blocked, failed
    }
}
