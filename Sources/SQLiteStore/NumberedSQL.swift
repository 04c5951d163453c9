/// A fixed SQL statement with a number, under which each connection of a store keeps it prepared.
///
/// Looking up a statement by its text costs building the text and hashing it: thousands of instructions, about half of
/// reading one record.
package struct NumberedSQL: Sendable {
    package let text: String
    let number: Int
}

/// Hands out the numbers of one store's statements.
///
/// Connections keep an array of this length, and never drop these statements: number fixed statements only, not lists
/// that callers can build.
package struct StatementNumbers: Sendable {
    private var count = 0

    package init() {}

    /// Numbers for at most `count` statements whose text is not known yet.
    package mutating func reserve(_ count: Int) -> StatementNumbers {
        defer { self.count += count }
        return self
    }

    package mutating func next(_ text: String) -> NumberedSQL {
        defer { count += 1 }
        return NumberedSQL(text: text, number: count)
    }
}
