internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// Identifies a version of a record: a hash of the record itself, and one of everything shown with it.
///
/// The record's own hash leaves out `_sync`. A change on its way to the upstream updates `_sync` several times; those
/// updates do not look like other versions of the record to the next writer.
package struct RecordVersion: Sendable, Equatable {
    package var record: UInt64
    package var rest: UInt64

    /// For a record as shown; its own members, without the closing brace, are the first `length` bytes.
    init(of bytes: [UInt8], ownLength length: Int) {
        (record, rest) = bytes.withUnsafeBytes { bytes in
            (
                ContentHash.of(UnsafeRawBufferPointer(rebasing: bytes.prefix(length))),
                ContentHash.of(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(length)))
            )
        }
    }

    /// The hash of a record inside the caller's transaction.
    static func mark(
        of key: String, _ table: EntityTable, _ sealers: RecordSealers, _ db: Database
    ) throws -> UInt64 {
        let sql = "SELECT \(RecordSelect(table: table).columns) FROM \(table.name) WHERE _key = ?"
        let statement = BoundStatement(try db.cachedStatement(sql: sql))
        try statement.bind(key, to: 1)
        let extras = RecordExtras(table, sealers)
        return try statement.first { ShownRecord(reading: $0, extras).version.record } ?? 0
    }

    /// The hash of a whole response.
    package static func mark(of bytes: [UInt8]) -> UInt64 { ContentHash.of(bytes) }
}

/// The versions in which a connection has read an entity's records since the last commit, by key. Programs that poll send the
/// version that they have, and most records are as before.
final class ShownVersions {
    private var versions: [ExactText: RecordVersion] = [:]

    /// 100 KiB of memory.
    private static let most = 1000

    subscript(_ key: String) -> RecordVersion? {
        get { versions[key.exact] }
        set {
            if versions.count >= Self.most { versions.removeAll(keepingCapacity: true) }
            versions[key.exact] = newValue
        }
    }
}

/// One record as readers see it.
package struct ShownRecord: Sendable {
    /// JSON, ready to send.
    package var bytes: [UInt8]
    package var version: RecordVersion
}

extension ShownRecord {
    /// Reads the current row of a `RecordSelect` statement; `pending` as for `RecordBytes.appendRecord`.
    init(reading statement: OpaquePointer, _ extras: RecordExtras, pending: [String]? = nil) {
        let (bytes, ownLength) = RecordBytes.one(statement, extras, pending: pending)
        self.init(bytes: bytes, version: RecordVersion(of: bytes, ownLength: ownLength))
    }
}

/// The versions of a record that a write accepts; it leaves any other as it is (`CacheError.changed`).
package enum ExpectedVersion: Sendable, Equatable {
    case any
    /// Hashes of records, as in `RecordVersion.record`.
    case oneOf(Set<UInt64>)
}
