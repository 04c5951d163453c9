internal import GRDB
internal import GRDBSQLite

/// The SQL functions `text_contains(text, part)` and `text_begins(text, part)`, for which A to Z are the same in either case.
///
/// LIKE compares the whole part again at each place of the text. In a long text of one letter that takes half a second, in
/// which nothing can interrupt SQLite.
enum TextPart {
    static func addFunctions(to connection: OpaquePointer) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        let codes = [
            sqlite3_create_function_v2(
                connection, "text_contains", 2, flags, nil,
                { context, _, values in TextPart.answer(context, values, TextPart.contains) }, nil, nil, nil),
            sqlite3_create_function_v2(
                connection, "text_begins", 2, flags, nil,
                { context, _, values in TextPart.answer(context, values, TextPart.begins) }, nil, nil, nil),
        ]
        guard codes.allSatisfy({ $0 == SQLITE_OK }) else { throw DatabaseError(lastOf: connection) }
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Null, which is the result if none is set, where one of the two is.
    private static func answer(
        _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?,
        _ isMet: (_ text: Bytes, _ part: Bytes) -> Bool
    ) {
        guard let values, let text = bytes(of: values[0]), let part = bytes(of: values[1]) else { return }
        sqlite3_result_int(context, isMet(text, part) ? 1 : 0)
    }

    private static func bytes(of value: OpaquePointer?) -> Bytes? {
        guard let start = sqlite3_value_text(value) else { return nil }
        return Bytes(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    private static func begins(_ text: Bytes, with part: Bytes) -> Bool {
        text.count >= part.count && part.indices.allSatisfy { folded(text[$0]) == folded(part[$0]) }
    }

    /// Knuth, Morris and Pratt: looks at each byte of the text about once. In UTF-8 no character begins inside another.
    private static func contains(_ text: Bytes, _ part: Bytes) -> Bool {
        guard part.count <= text.count, !part.isEmpty else { return part.isEmpty }
        return withUnsafeTemporaryAllocation(of: Int.self, capacity: part.count) { borders in
            borders.initialize(repeating: 0)
            /// How many bytes of the part end here, if `count` ended at the byte before.
            func matched(_ byte: UInt8, after count: Int) -> Int {
                var count = count
                while count > 0, folded(part[count]) != byte { count = borders[count - 1] }
                return folded(part[count]) == byte ? count + 1 : 0
            }
            for index in 1..<part.count { borders[index] = matched(folded(part[index]), after: borders[index - 1]) }
            var count = 0
            for byte in text {
                count = matched(folded(byte), after: count)
                if count == part.count { return true }
            }
            return false
        }
    }

    private static func folded(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
