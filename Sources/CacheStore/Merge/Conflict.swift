internal import EntitySchema
internal import JSONText

/// A local change that met a change on the server.
package enum Conflict {
    package enum Side: String, Sendable, Equatable {
        case local, server
    }

    /// The two sides of a conflict.
    struct Dispute {
        var change: OutboxTable.Entry
        /// Nil when the conflict is about the whole record.
        var field: String?
        /// The value that both sides started from.
        var base: JSONText?
        /// Nil when the record was deleted locally.
        var local: JSONText?
        /// Nil when the server no longer has the field, or the record.
        var server: JSONText?
        /// Both by the server's clock.
        var localAt: Timestamp
        var serverAt: Timestamp?
    }
}
