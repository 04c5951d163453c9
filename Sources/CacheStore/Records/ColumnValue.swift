internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText

/// The value of a field in its column: what `->>` makes of the JSON value, and a time as milliseconds since 1970.
///
/// The column's type does the rest: a number in quotes becomes a number in a column of numbers.
enum ColumnValue: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    /// UTF-8.
    case text(ArraySlice<UInt8>)

    /// `isTime`: a text that is a time becomes a number; anything else stays text, so no other number looks like one.
    init(_ json: JSONText?, isTime: Bool) {
        guard let json else {
            self = .null
            return
        }
        switch json.kind {
        case .null: self = .null
        case .boolean: self = .integer(json.boolean == true ? 1 : 0)
        case .number where isTime: self = .text(json.bytes)
        case .number: self = Self.number(json.text)
        case .object, .array: self = .text(json.bytes)
        case .string:
            let time = isTime ? json.string.flatMap(Timestamp.init(iso8601:)) : nil
            self = time.map { .integer($0.milliseconds) } ?? .text(Self.text(json))
        }
    }

    private static func number(_ text: String) -> ColumnValue {
        Int64(text).map(ColumnValue.integer) ?? .real(Double(text) ?? 0)
    }

    /// The decoded text up to a NUL, where SQLite's own functions end it as well.
    private static func text(_ json: JSONText) -> ArraySlice<UInt8> {
        let inner = json.bytes.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return inner }
        return Array((json.string ?? "").utf8).prefix { $0 != 0 }
    }
}

/// Binds values to a prepared statement, runs it once and leaves it ready for the next time.
struct BoundStatement {
    private let statement: OpaquePointer

    init(_ statement: Statement) { self.statement = statement.sqliteStatement }

    func bind(_ index: Int32, _ value: ColumnValue) {
        switch value {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .real(let number): sqlite3_bind_double(statement, index, number)
        case .text(let bytes): bind(index, bytes)
        }
    }

    func bind(_ index: Int32, _ number: Int64?) {
        if let number { sqlite3_bind_int64(statement, index, number) } else { sqlite3_bind_null(statement, index) }
    }

    func bind(_ index: Int32, _ json: JSONText?) {
        if let json { bind(index, json.bytes) } else { sqlite3_bind_null(statement, index) }
    }

    func bind(_ index: Int32, _ text: String?) {
        guard var text else {
            sqlite3_bind_null(statement, index)
            return
        }
        text.withUTF8 { bind(index, $0) }
    }

    func bind(_ index: Int32, _ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer { bind(index, $0) }
    }

    private func bind(_ index: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        // An empty buffer may have no address, which SQLite would take for null.
        guard let base = bytes.baseAddress else {
            sqlite3_bind_text(statement, index, "", 0, Self.transient)
            return
        }
        let text = UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(statement, index, text, Int32(bytes.count), Self.transient)
    }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Runs a statement that returns no rows.
    func run() throws { _ = try first { _ in } }

    /// What `read` makes of each row.
    func all<Result>(_ read: (OpaquePointer) throws -> Result) throws -> [Result] {
        defer { end() }
        var results: [Result] = []
        while try step() { results.append(try read(statement)) }
        return results
    }

    /// What `read` makes of the first row; nil when there is none.
    func first<Result>(_ read: (OpaquePointer) throws -> Result) throws -> Result? {
        defer { end() }
        return try step() ? read(statement) : nil
    }

    /// Whether there is another row.
    private func step() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(statement)))
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
    }

    private func end() {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
    }
}

extension JSONText {
    /// Whether a column of a statement's current row has this text, byte for byte.
    func isStored(in column: Int32, of statement: OpaquePointer) -> Bool {
        guard let start = sqlite3_column_text(statement, column) else { return false }
        let count = Int(sqlite3_column_bytes(statement, column))
        return bytes.elementsEqual(UnsafeBufferPointer(start: start, count: count))
    }

    /// A column of a statement's current row, as stored by the engine and so valid; nil for NULL.
    init?(column: Int32, of statement: OpaquePointer) {
        guard let start = sqlite3_column_text(statement, column) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        self.init(validated: Array(UnsafeBufferPointer(start: start, count: count)))
    }
}
