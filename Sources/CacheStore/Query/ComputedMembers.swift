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
        /// Where `openings` has it.
        var opening: Range<Int>
        /// Where `openings` has it with the values of a boolean.
        var isTrue: Range<Int>
        var isFalse: Range<Int>
        var isBoolean: Bool

        /// Where `openings` has it with this value of its column; nil for a number that is no boolean.
        func known(_ value: Int64) -> Range<Int>? { value == 1 ? isTrue : value == 0 ? isFalse : nil }
    }

    private let members: [Member]
    private let names: [(name: String, quoted: String)]
    /// The names with quotes, each between a comma and a colon, alone and with `true` and `false`. In one array, because one for
    /// each would be retained for each record.
    private let openings: [UInt8]
    /// Nil if it is not known: then every document is searched.
    private let given: RecordMark?

    /// `fields`: those whose columns follow `RecordSelect.pkColumn`, in their order. `given`: whether the server sends them.
    init(_ fields: [Field], given: RecordMark?) {
        self.given = given
        names = fields.map { ($0.name, "\"\($0.name)\"") }
        var openings: [UInt8] = []
        members = fields.map { field in
            let places = ["", "true", "false"].map { value in
                let start = openings.count
                openings += ",\"\(field.name)\":\(value)".utf8
                return start..<openings.count
            }
            return Member(
                opening: places[0], isTrue: places[1], isFalse: places[2], isBoolean: field.kind == .boolean)
        }
        self.openings = openings
    }

    /// Appends the current row's record without its closing brace. It always has its key, so a member always precedes
    /// the next one.
    func append(_ statement: OpaquePointer, to output: OutputBuffer) {
        let document = RecordBytes.bytes(RecordSelect.documentColumn, of: statement)
        let mayBeGiven = given?.isRaised ?? true
        let start = output.count
        output.append(UnsafeBufferPointer(rebasing: document.dropLast()))
        openings.withUnsafeBufferPointer { openings in
            for (index, member) in members.enumerated() {
                // As in `RecordBytes.bytes`.
                let value = sqlite3_column_value(statement, RecordSelect.pkColumn + 1 + Int32(index))
                let type = sqlite3_value_type(value)
                guard type != SQLITE_NULL else { continue }
                if mayBeGiven, Self.has(names[index].quoted, document) {
                    Self.set(names[index].name, value, type, member.isBoolean, in: output, from: start)
                } else if member.isBoolean, type == SQLITE_INTEGER, let known = member.known(sqlite3_value_int64(value))
                {
                    output.append(UnsafeBufferPointer(rebasing: openings[known]))
                } else {
                    output.append(UnsafeBufferPointer(rebasing: openings[member.opening]))
                    Self.append(value, type, member.isBoolean, to: output)
                }
            }
        }
    }

    /// `document` ends with a NUL, as each text of SQLite does.
    private static func has(_ name: String, _ document: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = document.baseAddress else { return false }
        let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
        return name.withCString { strstr(text, $0) != nil }
    }

    /// The name may be that of a member in an inner object. The record's own one counts, unless it is null.
    private static func set(
        _ name: String, _ value: OpaquePointer?, _ type: Int32, _ isBoolean: Bool, in output: OutputBuffer,
        from start: Int
    ) {
        let record = JSONText(validated: output.bytes(from: start) + [UInt8(ascii: "}")])
        if let own = record[name], own.kind != .null { return }
        let json = OutputBuffer.bytes(capacity: 64) { append(value, type, isBoolean, to: $0) }
        output.removeAll(from: start)
        output.append(record.setting(name, to: JSONText(validated: json)).bytes.dropLast() as ArraySlice<UInt8>)
    }

    /// Appends the value of a column as JSON, as SQLite's `json_quote` makes it, and 1 and 0 of a boolean as true and false.
    private static func append(
        _ value: OpaquePointer?, _ type: Int32, _ isBoolean: Bool, to output: OutputBuffer
    ) {
        if isBoolean, type == SQLITE_INTEGER {
            switch sqlite3_value_int64(value) {
            case 1: return output.append("true")
            case 0: return output.append("false")
            default: break
            }
        }
        let text = RecordBytes.bytes(of: value)
        guard type == SQLITE_TEXT else { return output.append(text) }
        if JSONText.isPlain(utf8: text) {
            output.append(UInt8(ascii: "\""))
            output.append(text)
            output.append(UInt8(ascii: "\""))
        } else {
            var json: [UInt8] = []
            JSONText.append(utf8: text, to: &json)
            output.append(json)
        }
    }
}
