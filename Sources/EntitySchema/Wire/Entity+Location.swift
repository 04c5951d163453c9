package import JSONText

/// The key of a record in an address of it, and as a value.
extension Entity {
    /// In bytes; a header has no longer one, but a result of a batch may.
    private static let longestLocation = 64 << 10

    /// Nil when the address is not that of a record of this entity, or has no key, because one is made here. `location` is
    /// absolute or relative, as a `Location` header has it.
    package func key(at location: String) -> String? {
        guard lift?.isMade(key) != true, location.utf8.count <= Self.longestLocation else { return nil }
        return addresses.lazy.compactMap { RecordAddress($0, key: key)?.key(at: location) }.first
    }

    /// A key as this entity's records have it.
    package func keyValue(_ key: String) -> JSONText {
        guard self[field: self.key]?.kind == .integer, let number = try? JSONText(parsing: key), number.kind == .number,
            number.plain == key
        else { return .string(key) }
        return number
    }

    /// Of single records; without such a path, below the list, or below what creates them.
    private var addresses: [Template] {
        if let path = pull?.single.path, path.placeholders.contains(key) { return [path] }
        let lists = pull.map { [$0.path] } ?? push.create.map(\.path.source)
        return lists.compactMap { Template("\($0.prefix { $0 != "?" })/{\(key)}") }
    }

    /// The text without its `%` escapes; what is no escape stays.
    package static func percentDecoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = Substring(rest.prefix(2))
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
