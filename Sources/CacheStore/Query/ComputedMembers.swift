internal import EntitySchema
internal import GRDBSQLite
internal import Glibc
internal import JSONText

/// Writes a row's document with the members that are computed on reading, which the document has only if the server
/// sends them. Their values come as columns, because joining them into text would take SQLite as long as all the rest.
struct ComputedMembers: Sendable {
    private struct Member: Sendable {
        var name: String
        /// The name with quotes, as a document has it, as a C string.
        var pattern: [UInt8]
        /// The same between a comma and a colon.
        var opening: [UInt8]
        /// With the value of a boolean.
        var whenTrue: [UInt8]
        var whenFalse: [UInt8]
        var isBoolean: Bool
    }

    private let members: [Member]
    /// Nil if it is not known: then every document is searched.
    private let given: GivenFields?

    /// `fields`: those whose columns follow `RecordSelect.pkColumn`, in their order. `given`: whether the server sends them.
    init(_ fields: [Field], given: GivenFields?) {
        self.given = given
        members = fields.map { field in
            let quoted = "\"\(field.name)\""
            let opening = Array(",\(quoted):".utf8)
            return Member(
                name: field.name, pattern: Array(quoted.utf8) + [0], opening: opening,
                whenTrue: opening + "true".utf8, whenFalse: opening + "false".utf8, isBoolean: field.kind == .boolean)
        }
    }

    /// Appends the current row's record without its closing brace. It always has its key, so a member always precedes
    /// the next one.
    func append(_ statement: OpaquePointer, to bytes: inout [UInt8]) {
        let start = bytes.count
        let document = RecordBytes.bytes(RecordSelect.documentColumn, of: statement)
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: document.dropLast()))
        let mayBeGiven = given?.mayBeSent ?? true
        // By index, because a walk over the members retains each of them.
        for index in members.indices {
            let value = Value(statement, RecordSelect.pkColumn + 1 + Int32(index), members[index].isBoolean)
            guard value.type != SQLITE_NULL else { continue }
            if mayBeGiven, Self.has(members[index].pattern, document) {
                Self.add(members[index].name, value, to: &bytes, from: start)
            } else {
                append(value, of: index, to: &bytes)
            }
        }
    }

    /// Through pointers, because an array that is appended is retained first.
    private func append(_ value: Value, of index: Int, to bytes: inout [UInt8]) {
        if let isTrue = value.boolean {
            if isTrue {
                members[index].whenTrue.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
            } else {
                members[index].whenFalse.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
            }
        } else {
            members[index].opening.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
            value.append(to: &bytes)
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
    private static func add(_ name: String, _ value: Value, to bytes: inout [UInt8], from start: Int) {
        let record = JSONText(validated: Array(bytes[start...]) + [UInt8(ascii: "}")])
        if let own = record[name], own.kind != .null { return }
        var json: [UInt8] = []
        value.append(to: &json)
        bytes.removeSubrange(start...)
        bytes += record.setting(name, to: JSONText(validated: json)).bytes.dropLast() as ArraySlice<UInt8>
    }

    /// The value of a column in the current row.
    private struct Value {
        let statement: OpaquePointer
        let column: Int32
        let type: Int32
        let isBoolean: Bool

        init(_ statement: OpaquePointer, _ column: Int32, _ isBoolean: Bool) {
            self.statement = statement
            self.column = column
            self.isBoolean = isBoolean
            type = sqlite3_column_type(statement, column)
        }

        /// What 1 and 0 of a boolean mean; nil for any other value.
        var boolean: Bool? {
            guard isBoolean, type == SQLITE_INTEGER else { return nil }
            return switch sqlite3_column_int64(statement, column) {
            case 1: true
            case 0: false
            default: nil
            }
        }

        /// As SQLite's `json_quote`, and 1 and 0 of a boolean as true and false.
        func append(to bytes: inout [UInt8]) {
            guard type != SQLITE_TEXT else {
                return JSONText.append(utf8: RecordBytes.bytes(column, of: statement), to: &bytes)
            }
            if let boolean { return bytes.append(boolean ? "true" : "false") }
            bytes.append(contentsOf: RecordBytes.bytes(column, of: statement))
        }
    }
}
