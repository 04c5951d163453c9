package import EntitySchema

/// A request for the queue; every name in it is checked before it reaches SQL.
package struct PendingQuery: Sendable, Equatable {
    /// On what `PendingStatement.filters` names.
    package var filters: [ListQuery.Filter]
    /// Only changes of the record with this key; a former key is followed.
    package var record: String?
    /// Empty for the order in which the changes were made.
    package var sort: [SortTerm]
    package var limit: Int
    package var cursor: String?
    package var onlyWithErrors: Bool

    package init(
        filters: [ListQuery.Filter] = [], record: String? = nil, sort: [SortTerm] = [], limit: Int = 50,
        cursor: String? = nil, onlyWithErrors: Bool = false
    ) {
        self.filters = filters
        self.record = record
        self.sort = sort
        self.limit = limit
        self.cursor = cursor
        self.onlyWithErrors = onlyWithErrors
    }

    /// The state of a change as callers see it: that of the queue, or `blocked`.
    package enum State: String, Sendable, CaseIterable {
        case queued, uploading, waiting, blocked, failed
    }
}
