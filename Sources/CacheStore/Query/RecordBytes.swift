internal import EntitySchema
internal import GRDBSQLite
internal import JSONText

/// Builds the records of a response directly from SQLite's memory.
struct RecordBytes {
    private(set) var bytes: [UInt8] = []
    private let extras: RecordExtras
    /// The last `_sync` written of a record without queued changes: records pulled together share it.
    private var lastSync: (milliseconds: Int64, text: [UInt8])?

    init(reserving capacity: Int, _ extras: RecordExtras) {
        self.extras = extras
        bytes.reserveCapacity(capacity)
    }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func append(_ text: StaticString) {
        bytes.append(text)
    }

    /// Appends the record of the current row of `statement`, followed by `_sync` and, if asked for, `_labels`. Returns
    /// where the record's own members end. `pending`: the row is one of `RecordSelect.changed`, and these fields wait.
    @discardableResult
    mutating func appendRecord(_ statement: OpaquePointer, pending: [String]? = nil) -> Int {
        let start = bytes.count
        appendOwnMembers(statement)
        if extras.added.mayBeSent { removeAddedMembers(from: start) }
        let ownEnd = bytes.count
        if let pending {
            appendPending(pending, statement)
        } else if sqlite3_column_type(statement, RecordSelect.syncColumn) == SQLITE_NULL {
            appendSynced(statement)
        } else {
            append(",\"_sync\":")
            bytes.append(contentsOf: Self.bytes(RecordSelect.syncColumn, of: statement))
        }
        if let labels = extras.labels {
            let record = JSONText(validated: Array(bytes[start..<ownEnd]) + [UInt8(ascii: "}")])
            append(",\"_labels\":")
            bytes += labels.object(for: record).bytes
        }
        append(UInt8(ascii: "}"))
        return ownEnd
    }

    private mutating func appendOwnMembers(_ statement: OpaquePointer) {
        guard let sealer = extras.sealer else { return extras.computed.append(statement, to: &bytes) }
        var own: [UInt8] = []
        extras.computed.append(statement, to: &own)
        own.append(UInt8(ascii: "}"))
        // Without the type it is the `dropLast` of sequences, which takes 80 instructions a byte.
        bytes += sealer.shown(JSONText(validated: own)).bytes.dropLast() as ArraySlice<UInt8>
    }

    /// `start`: that of a record without its closing brace.
    private mutating func removeAddedMembers(from start: Int) {
        let sent = JSONText(validated: Array(bytes[start...]) + [UInt8(ascii: "}")])
        bytes.removeSubrange(start...)
        bytes += AddedMembers.removed(from: sent).bytes.dropLast() as ArraySlice<UInt8>
    }

    /// Appends `_sync` of a record without queued changes, whose time is null if it did not come from a server.
    private mutating func appendSynced(_ statement: OpaquePointer) {
        guard sqlite3_column_type(statement, RecordSelect.syncedAtColumn) != SQLITE_NULL else {
            append(Self.syncedAt)
            return append("null,\"error\":null}")
        }
        let milliseconds = sqlite3_column_int64(statement, RecordSelect.syncedAtColumn)
        if lastSync?.milliseconds != milliseconds {
            var text: [UInt8] = []
            text.reserveCapacity(128)
            text.append(Self.syncedAt)
            text.append(UInt8(ascii: "\""))
            text += Timestamp(milliseconds: milliseconds).utf8
            text.append("\",\"error\":null}")
            lastSync = (milliseconds, text)
        }
        lastSync?.text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// Appends what `RecordSelect` makes of queued changes that nothing has happened to.
    private mutating func appendPending(_ fields: [String], _ statement: OpaquePointer) {
        append(",\"_sync\":{\"state\":\"pending\",\"pending_fields\":")
        JSONText.append(fields, to: &bytes)
        append(",\"synced_at\":")
        if sqlite3_column_type(statement, RecordSelect.syncedAtColumn) == SQLITE_NULL {
            append("null")
        } else {
            append(UInt8(ascii: "\""))
            bytes += Timestamp(milliseconds: sqlite3_column_int64(statement, RecordSelect.syncedAtColumn)).utf8
            append(UInt8(ascii: "\""))
        }
        append(",\"error\":null}")
    }

    private static let syncedAt: StaticString = ",\"_sync\":{\"state\":\"synced\",\"pending_fields\":[],\"synced_at\":"

    static func bytes(_ column: Int32, of statement: OpaquePointer) -> UnsafeBufferPointer<UInt8> {
        let start = sqlite3_column_text(statement, column)
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }

    /// The bytes of a column as text.
    static func text(_ column: Int32, of statement: OpaquePointer) -> String {
        String(decoding: bytes(column, of: statement), as: UTF8.self)
    }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
