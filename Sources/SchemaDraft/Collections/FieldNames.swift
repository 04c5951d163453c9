internal import EntitySchema

/// The names that fields may have in a schema.
enum FieldNames {
    static func isAllowed(_ name: String) -> Bool {
        guard name.utf8.count <= 60, Words.isPlain(name), name.contains(where: { $0 != "_" }),
            name.first?.isNumber == false
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

    // MARK: Credentials

    private static let secrets = [
        "password", "secret", "private_key", "api_key", "access_token", "passcode", "passphrase", "secret_key",
        "secret_access_key", "encryption_key", "signing_key", "credential", "credentials",
    ]
    /// Before `token`: what is none, but the place of a page or of a version.
    private static let places: Set = [
        "version", "page", "next", "previous", "prev", "sync", "delta", "continuation", "cursor", "pagination",
        "idempotency",
        "iterator",
    ]

    static func isSecret(_ shape: DataShape, name: String) -> Bool {
        guard shape.kind == .string, shape.enumValues.isEmpty else { return false }
        let word = Words.snake(name)
        return shape.format == "password" || secrets.contains { word == $0 || word.hasSuffix("_\($0)") }
    }

    /// `plex_token`, `token`, `account_key`; not `token_type`, `next_page_token`. In some APIs it is what identifies a record.
    static func isToken(_ shape: DataShape, name: String) -> Bool {
        guard shape.kind == .string, shape.enumValues.isEmpty, !["date", "date-time"].contains(shape.format ?? "")
        else {
            return false
        }
        let words = Words.parts(of: name)
        if words.suffix(2) == ["account", "key"] { return true }
        return words.last == "token" && !words.dropLast().contains(where: places.contains)
    }
}
