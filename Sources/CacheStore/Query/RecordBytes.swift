internal import EntitySchema
internal import GRDBSQLite
internal import JSONText

/// Builds the records of a response directly from SQLite's memory.
struct RecordBytes {
    private let output: OutputBuffer
    private let extras: RecordExtras
    /// The last `_sync` of a record without queued changes, and where it was written: records pulled together share it.
    private var lastSync: (milliseconds: Int64, place: Range<Int>)?

    init(_ output: OutputBuffer, _ extras: RecordExtras) {
        self.output = output
        self.extras = extras
    }

    /// The current row's record alone, and where its own members end.
    static func one(
        _ statement: OpaquePointer, _ extras: RecordExtras, pending: [String]? = nil
    ) -> (bytes: [UInt8], ownLength: Int) {
        var ownLength = 0
        let bytes = OutputBuffer.bytes(capacity: 1024) { output in
            var record = RecordBytes(output, extras)
            ownLength = record.appendRecord(statement, pending: pending)
        }
        return (bytes, ownLength)
    }

    /// Appends the record of the current row of `statement`, followed by `_sync` and, if asked for, `_labels`. Returns
    /// where the record's own members end. `pending`: the row is one of `RecordSelect.changed`, and these fields wait.
    @discardableResult
    mutating func appendRecord(_ statement: OpaquePointer, pending: [String]? = nil) -> Int {
        let start = output.count
        appendOwnMembers(statement)
        if extras.added.mayBeSent { removeAddedMembers(from: start) }
        let ownEnd = output.count
        let labels = extras.labels?.object(for: record(from: start))
        if let pending {
            appendPending(pending, statement)
        } else if sqlite3_column_type(statement, RecordSelect.syncColumn) == SQLITE_NULL {
            appendSynced(statement)
        } else {
            output.append(",\"_sync\":")
            output.append(Self.bytes(RecordSelect.syncColumn, of: statement))
        }
        if let labels {
            output.append(",\"_labels\":")
            output.append(labels.bytes)
        }
        output.append(UInt8(ascii: "}"))
        return ownEnd
    }

    private func appendOwnMembers(_ statement: OpaquePointer) {
        let start = output.count
        extras.computed.append(statement, to: output)
        if let sealer = extras.sealer { replace(from: start, by: sealer.shown(record(from: start))) }
    }

    private func removeAddedMembers(from start: Int) {
        replace(from: start, by: AddedMembers.removed(from: record(from: start)))
    }

    /// The record that starts there, whose closing brace is not written yet.
    private func record(from start: Int) -> JSONText {
        JSONText(validated: output.bytes(from: start) + [UInt8(ascii: "}")])
    }

    private func replace(from start: Int, by record: JSONText) {
        output.removeAll(from: start)
        // Without the type it is the `dropLast` of sequences, which takes 80 instructions a byte.
        output.append(record.bytes.dropLast() as ArraySlice<UInt8>)
    }

    /// Appends `_sync` of a record without queued changes, whose time is null if it did not come from a server.
    private mutating func appendSynced(_ statement: OpaquePointer) {
        let value = sqlite3_column_value(statement, RecordSelect.syncedAtColumn)
        let isFromServer = sqlite3_value_type(value) != SQLITE_NULL
        let milliseconds = sqlite3_value_int64(value)
        if isFromServer, let lastSync, lastSync.milliseconds == milliseconds {
            return output.append(copyOf: lastSync.place)
        }
        let start = output.count
        output.append(",\"_sync\":{\"state\":\"synced\",\"pending_fields\":[],\"synced_at\":")
        appendEnd(value)
        if isFromServer { lastSync = (milliseconds, start..<output.count) }
    }

    /// Appends what `RecordSelect` makes of queued changes that nothing has happened to.
    private func appendPending(_ fields: [String], _ statement: OpaquePointer) {
        output.append(",\"_sync\":{\"state\":\"pending\",\"pending_fields\":")
        var names: [UInt8] = []
        JSONText.append(fields, to: &names)
        output.append(names)
        output.append(",\"synced_at\":")
        appendEnd(sqlite3_column_value(statement, RecordSelect.syncedAtColumn))
    }

    /// Appends the time in a column and the end of a `_sync` without an error.
    private func appendEnd(_ syncedAt: OpaquePointer?) {
        guard sqlite3_value_type(syncedAt) != SQLITE_NULL else { return output.append("null,\"error\":null}") }
        output.append(UInt8(ascii: "\""))
        output.append(Timestamp(milliseconds: sqlite3_value_int64(syncedAt)).utf8)
        output.append("\",\"error\":null}")
    }

    /// The bytes of a column as text.
    ///
    /// One look for the column, where each of `sqlite3_column_…` would look. The connection has no mutex to hold.
    static func bytes(_ column: Int32, of statement: OpaquePointer) -> UnsafeBufferPointer<UInt8> {
        bytes(of: sqlite3_column_value(statement, column))
    }

    static func bytes(of value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
        let start = sqlite3_value_text(value)
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    /// A column as text.
    static func text(_ column: Int32, of statement: OpaquePointer) -> String {
        String(decoding: bytes(column, of: statement), as: UTF8.self)
    }
}
