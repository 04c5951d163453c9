internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// What tells one version of a record from another: a mark of the record itself and one of all that is shown with it.
///
/// The record's own mark leaves `_sync` out. So a change on its way to the upstream, which moves `_sync` several times,
/// is not taken for another version of the record by whoever makes the next one.
package struct RecordVersion: Sendable, Equatable {
    package var record: UInt64
    package var rest: UInt64

    /// Of a record as it is shown, whose own members, without the closing brace, are its first `length` bytes.
    init(of bytes: [UInt8], ownLength length: Int) {
        (record, rest) = bytes.withUnsafeBytes { bytes in
            (
                ContentHash.of(UnsafeRawBufferPointer(rebasing: bytes.prefix(length))),
                ContentHash.of(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(length)))
            )
        }
    }

    /// The mark of a record as it stands in the caller's transaction.
    static func mark(of key: String, _ table: EntityTable, _ db: Database) throws -> UInt64 {
        let sql = "SELECT \(RecordSelect(table: table).document) FROM \(table.name) WHERE _key = ?"
        let document = try String.fetchOne(db.cachedStatement(sql: sql), arguments: [key]) ?? ""
        return ContentHash.of(document.utf8.dropLast())
    }

    /// The mark of a whole answer.
    package static func mark(of bytes: [UInt8]) -> UInt64 { ContentHash.of(bytes) }
}

/// One record as readers see it.
package struct ShownRecord: Sendable {
    /// JSON, ready for the socket.
    package var bytes: [UInt8]
    package var version: RecordVersion
}

extension ShownRecord {
    /// From the row of a `RecordSelect` that a statement stands at.
    init(reading statement: OpaquePointer) {
        var bytes = RecordBytes(reserving: 1024)
        let ownLength = bytes.appendRecord(statement)
        self.init(bytes: bytes.bytes, version: RecordVersion(of: bytes.bytes, ownLength: ownLength))
    }
}

/// The versions of a record that a write may meet; any other is left as it is (`CacheError.changed`).
package enum ExpectedVersion: Sendable, Equatable {
    case any
    /// The marks of records, as `RecordVersion.record` has them.
    case oneOf(Set<UInt64>)
}
