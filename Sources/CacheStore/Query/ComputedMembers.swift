internal import EntitySchema
internal import GRDBSQLite
internal import Glibc
internal import JSONText

/// Writes a row's document with the members that are computed on reading, which the document has only if the server
/// sends them. Their values come as columns, because joining them into text would take SQLite as long as all the rest.
///
/// A class only because each record would copy a structure.
final class ComputedMembers: Sendable {
    private struct Member: Sendable {
        var name: String
        /// The name with quotes, as a document has it, as a C string.
        var pattern: [UInt8]
        /// Where `openings` has it.
        var opening: Range<Int>
        var isBoolean: Bool
    }

    private let members: [Member]
    /// The names with quotes, each between a comma and a colon. In one array, because one for each would be retained for
    /// each record.
    private let openings: [UInt8]
    /// Nil if it is not known: then every document is searched.
    private let given: GivenFields?

    /// `fields`: those whose columns follow `RecordSelect.pkColumn`, in their order. `given`: whether the server sends them.
    init(_ fields: [Field], given: GivenFields?) {
        self.given = given
        var openings: [UInt8] = []
        members = fields.map { field in
            let start = openings.count
            openings += ",\"\(field.name)\":".utf8
            return Member(
                name: field.name, pattern: Array("\"\(field.name)\"".utf8) + [0], opening: start..<openings.count,
                isBoolean: field.kind == .boolean)
        }
        self.openings = openings
    }

    /// Appends the current row's record without its closing brace. It always has its key, so a member always precedes
    /// the next one.
    func append(_ statement: OpaquePointer, to bytes: inout [UInt8]) {
        let document = RecordBytes.bytes(RecordSelect.documentColumn, of: statement)
        let mayBeGiven = given?.mayBeSent ?? true
        withUnsafeTemporaryAllocation(of: Value.self, capacity: members.count) { values in
            var room = document.count + openings.count
            for index in members.indices {
                let value = Value(statement, RecordSelect.pkColumn + 1 + Int32(index), members[index].isBoolean)
                values.initializeElement(at: index, to: value)
                room += value.room
            }
            let start = bytes.count
            bytes.append(atMost: room) { run in
                run.add(UnsafeBufferPointer(rebasing: document.dropLast()))
                for index in members.indices where !mayBeGiven { add(values[index], of: index, to: &run) }
            }
            for index in members.indices where mayBeGiven {
                add(values[index], of: index, to: &bytes, from: start, unlessIn: document)
            }
        }
    }

    private func add(_ value: Value, of index: Int, to run: inout ByteRun) {
        guard !value.isNull else { return }
        openings.withUnsafeBufferPointer { run.add(UnsafeBufferPointer(rebasing: $0[members[index].opening])) }
        value.add(to: &run)
    }

    /// The same for a document that may have the member.
    private func add(
        _ value: Value, of index: Int, to bytes: inout [UInt8], from start: Int,
        unlessIn document: UnsafeBufferPointer<UInt8>
    ) {
        if !value.isNull, Self.has(members[index].pattern, document) {
            Self.set(members[index].name, value, in: &bytes, from: start)
        } else {
            bytes.append(atMost: openings.count + value.room) { add(value, of: index, to: &$0) }
        }
    }

    /// Both end with a NUL: `name` is a C string, and so is a text of SQLite.
    private static func has(_ name: [UInt8], _ document: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = document.baseAddress else { return false }
        return name.withUnsafeBufferPointer { name in
            name.withMemoryRebound(to: CChar.self) { name in
                name.baseAddress.map {
                    strstr(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), $0) != nil
                } ?? false
            }
        }
    }

    /// The name may be that of a member in an inner object. The record's own one counts, unless it is null.
    private static func set(_ name: String, _ value: Value, in bytes: inout [UInt8], from start: Int) {
        let record = JSONText(validated: Array(bytes[start...]) + [UInt8(ascii: "}")])
        if let own = record[name], own.kind != .null { return }
        var json: [UInt8] = []
        json.append(atMost: value.room) { value.add(to: &$0) }
        bytes.removeSubrange(start...)
        bytes += record.setting(name, to: JSONText(validated: json)).bytes.dropLast() as ArraySlice<UInt8>
    }

    /// The value of a column in the current row: JSON as SQLite's `json_quote` makes it, and 1 and 0 of a boolean as true
    /// and false.
    private enum Value {
        case null
        case json(UnsafeBufferPointer<UInt8>)
        /// A text, without its quotes, that needs no escapes.
        case plain(UnsafeBufferPointer<UInt8>)
        /// Any other.
        case text(UnsafeBufferPointer<UInt8>)

        init(_ statement: OpaquePointer, _ column: Int32, _ isBoolean: Bool) {
            // One look for the column, where each of `sqlite3_column_…` would look. The connection has no mutex to hold.
            let value = sqlite3_column_value(statement, column)
            switch sqlite3_value_type(value) {
            case SQLITE_NULL: self = .null
            case SQLITE_TEXT:
                let text = Self.bytes(value)
                self = JSONText.isPlain(utf8: text) ? .plain(text) : .text(text)
            case SQLITE_INTEGER where isBoolean && sqlite3_value_int64(value) == 1: self = .json(Self.bytes("true"))
            case SQLITE_INTEGER where isBoolean && sqlite3_value_int64(value) == 0: self = .json(Self.bytes("false"))
            default: self = .json(Self.bytes(value))
            }
        }

        private static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
            let start = sqlite3_value_text(value)
            return UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
        }

        private static func bytes(_ text: StaticString) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        }

        var isNull: Bool {
            if case .null = self { true } else { false }
        }

        /// How many bytes it takes at most.
        var room: Int {
            switch self {
            case .null: 0
            case .json(let json): json.count
            case .plain(let text): text.count + 2
            case .text(let text): 6 * text.count + 2
            }
        }

        func add(to run: inout ByteRun) {
            switch self {
            case .null: break
            case .json(let json): run.add(json)
            case .plain(let text):
                run.add("\"")
                run.add(text)
                run.add("\"")
            case .text(let text):
                var json: [UInt8] = []
                JSONText.append(utf8: text, to: &json)
                json.withUnsafeBufferPointer { run.add($0) }
            }
        }
    }
}
