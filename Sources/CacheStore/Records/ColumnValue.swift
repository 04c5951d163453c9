internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import JSONText
internal import SQLiteStore

/// The value of a field in its column: what `->>` makes of the JSON value, and a time as milliseconds since 1970.
///
/// The column's type does the rest: a number in quotes becomes a number in a column of numbers.
enum ColumnValue: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    /// UTF-8.
    case text(ArraySlice<UInt8>)

    /// What a column makes of values.
    enum Kind: Equatable {
        case plain
        case time
        /// Of a boolean that the upstream has in quotes.
        case truth
        /// Of a field whose upstream has times in place of days.
        case day(TimeFormat)

        init(_ field: Field) {
            switch field.kind {
            case .time: self = .time
            case .boolean where field.isTextOnWire: self = .truth
            default: self = field.dayFormat.map { .day($0) } ?? .plain
            }
        }
    }

    init(_ json: JSONText?, as kind: Kind) {
        switch kind {
        case .plain: self.init(json, isTime: false)
        case .time: self.init(json, isTime: true)
        case .truth: self.init(json.map { $0.kind == .string ? Self.truth[$0.plain] ?? $0 : $0 }, isTime: false)
        case .day(let format): self.init(json.map { Self.day($0, format) }, isTime: false)
        }
    }

    private static let truth: [String: JSONText] = ["true": true, "false": false]

    /// The same as `EntityTable.expression` has it.
    private static func day(_ json: JSONText, _ format: TimeFormat) -> JSONText {
        guard !format.isNumber else {
            let number = json.kind == .number ? Int64(json.text) : nil
            return number.flatMap(format.day(of:)).map(JSONText.string) ?? json
        }
        if let pattern = format.dayPattern { return json.string.flatMap(pattern.day).map(JSONText.string) ?? json }
        guard let text = json.string, text.firstMatch(of: #/^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]/#) != nil else {
            return json
        }
        return .string(String(text.prefix(10)))
    }

    /// `isTime`: a text that is a time becomes a number; anything else stays text, so no other number looks like one.
    init(_ json: JSONText?, isTime: Bool) {
        guard let json else {
            self = .null
            return
        }
        switch json.kind {
        case .null: self = .null
        case .boolean where isTime: self = .text(json.boolean == true ? [0x31] : [0x30])
        case .boolean: self = .integer(json.boolean == true ? 1 : 0)
        case .number where isTime: self = .text(json.bytes)
        case .number: self = Self.number(json.text)
        case .object, .array: self = .text(json.bytes)
        case .string:
            let time = isTime ? json.string.flatMap(Timestamp.init(iso8601:)) : nil
            self = time.map { .integer($0.milliseconds) } ?? .text(Self.text(json))
        }
    }

    /// A whole number beyond 64 bits stays text: in a column of text, as a key, it must not be rounded.
    private static func number(_ text: String) -> ColumnValue {
        if let number = Int64(text) { return .integer(number) }
        if text.utf8.allSatisfy({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") }) { return .text(Array(text.utf8)[...]) }
        return .real(Double(text) ?? 0)
    }

    /// The decoded text up to a NUL, where SQLite's own functions end it as well.
    private static func text(_ json: JSONText) -> ArraySlice<UInt8> {
        let inner = json.bytes.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return inner }
        return Array((json.string ?? "").utf8).prefix { $0 != 0 }
    }
}

/// Values of records, and running a statement once.
extension BoundStatement {
    init(_ statement: Statement) { self.init(statement.sqliteStatement) }

    func bind(_ value: ColumnValue, to index: Int32) throws {
        switch value {
        case .null: try bindNull(to: index)
        case .integer(let number): try bind(number, to: index)
        case .real(let number): try bind(number.databaseValue, to: index)
        case .text(let bytes): try bind(bytes, to: index)
        }
    }

    func bind(_ json: JSONText?, to index: Int32) throws {
        guard let json else { return try bindNull(to: index) }
        try bind(json.bytes, to: index)
    }

    private func bind(_ utf8: ArraySlice<UInt8>, to index: Int32) throws {
        try utf8.withUnsafeBufferPointer { try bind(utf8: $0, to: index) }
    }

    /// Runs the statement, which returns no rows, and leaves it ready for the next time.
    func runOnce() throws { _ = try first { _ in } }

    /// The results of `read` for each row, up to the one after which `isEnough`.
    func all<Result>(
        until isEnough: () -> Bool = { false }, _ read: (OpaquePointer) throws -> Result
    ) throws -> [Result] {
        defer { end() }
        var results: [Result] = []
        while try !isEnough() && step() { results.append(try read(handle)) }
        return results
    }

    /// What `read` makes of the first row; nil when there is none.
    func first<Result>(_ read: (OpaquePointer) throws -> Result) throws -> Result? {
        defer { end() }
        return try step() ? read(handle) : nil
    }

    private func end() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

extension JSONText {
    /// Whether a column of a statement's current row has this text, byte for byte.
    func isStored(in column: Int32, of statement: OpaquePointer) -> Bool {
        guard let start = sqlite3_column_text(statement, column) else { return false }
        guard Int(sqlite3_column_bytes(statement, column)) == bytes.count else { return false }
        return bytes.withUnsafeBytes { bytes in bytes.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? true }
    }

    /// A column of a statement's current row, as stored by the engine and so valid; nil for NULL.
    init?(column: Int32, of statement: OpaquePointer) {
        guard let start = sqlite3_column_text(statement, column) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        self.init(validated: Array(UnsafeBufferPointer(start: start, count: count)))
    }
}
