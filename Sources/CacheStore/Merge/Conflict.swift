internal import EntitySchema
internal import JSONText

/// A change made here that met one made there.
package enum Conflict {
    package enum Side: String, Sendable, Equatable {
        case local, server
    }

    /// What stands against what.
    struct Dispute {
        var change: OutboxTable.Entry
        /// Nil where the whole record is at stake.
        var field: String?
        /// What both sides started from.
        var base: JSONText?
        /// Nil where the record was deleted here.
        var local: JSONText?
        /// Nil where the server has no such field any more, or no such record.
        var server: JSONText?
        /// Both as the server's clock has it.
        var localAt: Timestamp
        var serverAt: Timestamp?
    }
}
