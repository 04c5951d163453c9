internal import GRDB
internal import GRDBSQLite

/// The SQL aggregate `entry_sum(a, b, …)`: a sum over the rows of a hash of their values, types included.
///
/// Two sets of rows with the same sum are the same, whatever their order, but for a chance of 2⁻⁶⁴.
enum EntrySum {
    static func add(to connection: OpaquePointer) throws {
        let code = sqlite3_create_function_v2(
            connection, "entry_sum", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, nil,
            { context, count, values in
                guard let values, let memory = sqlite3_aggregate_context(context, 8) else { return }
                var hash: UInt64 = 0
                for index in 0..<Int(count) { hash = EntrySum.hash(values[index], after: hash) }
                memory.assumingMemoryBound(to: UInt64.self).pointee &+= hash
            },
            { context in
                // Null when there was no row.
                let sum = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: UInt64.self).pointee ?? 0
                sqlite3_result_int64(context, Int64(bitPattern: sum))
            }, nil)
        guard code == SQLITE_OK else { throw DatabaseError(lastOf: connection) }
    }

    private static func hash(_ value: OpaquePointer?, after hash: UInt64) -> UInt64 {
        let type = sqlite3_value_type(value)
        let content: UInt64 =
            switch type {
            case SQLITE_INTEGER: UInt64(bitPattern: sqlite3_value_int64(value))
            case SQLITE_FLOAT: sqlite3_value_double(value).bitPattern
            case SQLITE_NULL: 0
            default:
                ContentHash.of(
                    UnsafeRawBufferPointer(
                        start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value))))
            }
        return ContentHash.adding(content, to: ContentHash.adding(UInt64(type), to: hash))
    }
}
