internal import EntitySchema
internal import GRDBSQLite
internal import Glibc
internal import JSONText

/// Writes a row's document with the members that are computed on reading, which the document has only if the server
/// sends them. Their values come as columns, because joining them into text would take SQLite as long as all the rest.
struct ComputedMembers: Sendable {
    private struct Member: Sendable {
        var name: String
        /// The name with quotes, as a document has it.
        var quoted: [UInt8]
        /// The same as a C string.
        var pattern: [UInt8]
        var isBoolean: Bool
    }

    private let members: [Member]

    /// `fields`: those whose columns follow `RecordSelect.pkColumn`, in their order.
    init(_ fields: [Field]) {
        members = fields.map { field in
            let quoted = Array("\"\(field.name)\"".utf8)
            return Member(
                name: field.name, quoted: quoted, pattern: quoted + [0], isBoolean: field.kind == .boolean)
        }
    }

    /// Appends the current row's record without its closing brace. It always has its key, so a member always precedes
    /// the next one.
    func append(_ statement: OpaquePointer, to bytes: inout [UInt8]) {
        let start = bytes.count
        let document = RecordBytes.bytes(RecordSelect.documentColumn, of: statement)
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: document.dropLast()))
        for (index, member) in members.enumerated() {
            let column = RecordSelect.pkColumn + 1 + Int32(index)
            guard sqlite3_column_type(statement, column) != SQLITE_NULL else { continue }
            if Self.has(member.pattern, document) {
                Self.add(member, column, statement, to: &bytes, from: start)
            } else {
                bytes.append(UInt8(ascii: ","))
                bytes.append(contentsOf: member.quoted)
                bytes.append(UInt8(ascii: ":"))
                Self.appendValue(member, column, statement, to: &bytes)
            }
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
    private static func add(
        _ member: Member, _ column: Int32, _ statement: OpaquePointer, to bytes: inout [UInt8], from start: Int
    ) {
        let record = JSONText(validated: Array(bytes[start...]) + [UInt8(ascii: "}")])
        if let own = record[member.name], own.kind != .null { return }
        var value: [UInt8] = []
        appendValue(member, column, statement, to: &value)
        bytes.removeSubrange(start...)
        bytes += record.setting(member.name, to: JSONText(validated: value)).bytes.dropLast() as ArraySlice<UInt8>
    }

    private static let yes = Array("true".utf8)
    private static let no = Array("false".utf8)

    /// As SQLite's `json_quote`, and 1 and 0 of a boolean as true and false.
    private static func appendValue(
        _ member: Member, _ column: Int32, _ statement: OpaquePointer, to bytes: inout [UInt8]
    ) {
        guard sqlite3_column_type(statement, column) != SQLITE_TEXT else {
            return bytes.append(contentsOf: JSONText.string(RecordBytes.text(column, of: statement)).bytes)
        }
        let isBoolean = member.isBoolean && sqlite3_column_type(statement, column) == SQLITE_INTEGER
        switch sqlite3_column_int64(statement, column) {
        case 1 where isBoolean: bytes.append(contentsOf: yes)
        case 0 where isBoolean: bytes.append(contentsOf: no)
        default: bytes.append(contentsOf: RecordBytes.bytes(column, of: statement))
        }
    }
}
