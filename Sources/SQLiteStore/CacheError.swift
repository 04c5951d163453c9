/// Why the cache did not do what it was asked to, sorted by what the caller does about it.
package enum CacheError: Error, Sendable, Equatable {
    /// The caller's fault: mend the named fields and ask again.
    case invalid([FieldProblem])
    /// No such record or change.
    case notFound(String)
    /// A place in the change log that is not kept, or is of another cache: begin anew.
    case gone(String)
    /// The schema offers no way to send this operation; these it does.
    case unsupported(operation: String, entity: String, supported: [String])
    /// Cannot be done in the present state; the text says what stands in the way.
    case conflict(String)
    /// As `.conflict`: these changes stand in the way, since they build on what would go.
    case needed(by: [Int64], String)
    /// The record is not the version that the caller expected: read it again, then decide.
    case changed(String)
    /// A cursor or parameter of a list that cannot be used.
    case badQuery(field: String, message: String)
    /// The disk is full or the file cannot be written: later, when that has changed.
    case unwritable(String)
    /// The database file is damaged: set it aside and rescue the queue (`QueueRescue`).
    case damaged(String)
    /// Something is wrong with the database or this program; nothing was changed.
    case failed(String)
    /// The file was written by a newer version, or for a schema that this one cannot be adapted to: stop.
    case incompatible(String)
}

/// One thing wrong with one field of what a caller sent.
package struct FieldProblem: Error, Sendable, Equatable {
    package var field: String
    package var message: String

    package init(field: String, message: String) {
        self.field = field
        self.message = message
    }
}
