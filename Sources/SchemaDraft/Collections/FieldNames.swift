internal import EntitySchema

/// The names that fields may have in a schema.
enum FieldNames {
    static func isAllowed(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.count <= 60, let first = bytes.first(where: { $0 != UInt8(ascii: "_") }), isLetterOrDigit(first),
            bytes.first.map({ !isDigit($0) }) == true,
            bytes.allSatisfy({ $0 == UInt8(ascii: "_") || isLetterOrDigit($0) })
        else { return false }
        return !EntitySchema.reservedFieldNames.contains(name) && !EntitySchema.ownMembers.contains(name.lowercased())
    }

    /// A name for the field that the upstream calls so, different from those taken, which are in lower case.
    static func field(for name: String, taken: Set<String>) -> String? {
        if isAllowed(name), !taken.contains(name.lowercased()) { return name }
        var snake = Words.snake(name)
        if snake.first?.isNumber == true { snake = "n\(snake)" }
        guard !snake.isEmpty else { return nil }
        let short = String(snake.prefix(50))
        let others = [short, "\(short)_field"] + (2...20).map { "\(short)_\($0)" }
        return others.first { isAllowed($0) && !taken.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    // MARK: Credentials

    private static let secrets = ["password", "secret", "private_key", "api_key", "access_token", "passcode"]

    static func isSecret(_ shape: DataShape, name: String) -> Bool {
        guard shape.kind == .string, shape.enumValues.isEmpty else { return false }
        let word = Words.snake(name)
        return shape.format == "password" || secrets.contains { word == $0 || word.hasSuffix("_\($0)") }
    }
}
