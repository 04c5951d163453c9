package import JSONText

/// Which values can be a record's key.
extension Entity {
    /// The most characters of a key; a pulled record with a longer one is set aside.
    package static let longestKey = 498

    /// The key that a value is; nil when it cannot be one, and a pulled record with it is set aside.
    ///
    /// A key is text or a whole number of any size. A text with a NUL would be cut short by SQLite and match another
    /// record. Two texts with half of a surrogate pair could not be told apart once they are decoded. `.` and `..` name
    /// another place in a path, also when they are escaped (WHATWG URL, 4.1).
    package static func key(_ value: JSONText) -> String? {
        switch value.kind {
        case .number:
            let isWhole = value.bytes.allSatisfy { $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") }
            return isWhole && value.bytes.count <= longestKey ? value.text : nil
        case .string:
            guard let text = value.string, !text.isEmpty, !text.utf8.contains(0), !isStep(text), !value.hasLoneSurrogate
            else { return nil }
            // Nearly every key is short enough whatever its characters are.
            let isShort = value.bytes.count <= longestKey + 2
            return isShort || value.text.unicodeScalars.count <= longestKey + 2 ? text : nil
        default: return nil
        }
    }

    /// Whether a record has a value as its key that cannot be one. Such a record is never stored.
    package func hasUnusableKey(_ record: JSONText) -> Bool {
        guard let value = record[key], value.kind != .null else { return false }
        return Self.key(value) == nil
    }

    /// Whether the record has this key, byte for byte.
    package func isKey(_ key: String, of record: JSONText) -> Bool { record[self.key]?.plain.exact == key.exact }

    /// Whether two records have the same key, or none.
    package func haveSameKey(_ one: JSONText, _ other: JSONText) -> Bool {
        one[key]?.plain.exact == other[key]?.plain.exact
    }

    /// A record's key as messages show it, also one that cannot be a key.
    package func shownKey(of record: JSONText) -> String {
        guard let value = record[key] else { return "" }
        return Self.key(value) ?? value.text.cut(toScalars: 60)
    }

    /// Whether a text is a step to another place when it stands in a path by itself.
    ///
    /// By bytes: comparing texts can take long (`MarkRun`), and a key's length is looked at later.
    static func isStep(_ text: String) -> Bool { [".", ".."].contains { $0.utf8.elementsEqual(text.utf8) } }

    /// Whether a segment of a path, without its escapes, leads up for servers that read an escaped slash as a slash (nginx), or
    /// leave out what follows a semicolon (Tomcat): `../admin`, `..;/admin`. By bytes: a combining mark would hide a slash.
    package static func leadsUp(_ segment: String) -> Bool {
        segment.utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains { part in
            part.prefix { $0 != UInt8(ascii: ";") }.elementsEqual("..".utf8)
        }
    }
}
