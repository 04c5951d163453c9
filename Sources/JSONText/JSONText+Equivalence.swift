extension JSONText {
    /// Whether two texts have the same meaning, ignoring spaces, escapes, member order and number notation.
    ///
    /// Of duplicate members the last one counts. 129.9 and 129.90 are the same, 1 and "1" are not.
    package func isEquivalent(to other: JSONText) -> Bool { isEquivalent(to: other, levels: Self.mostLevels) }

    /// The members and elements of so many levels are looked up one level after the other, which goes through what is inside
    /// them each time. All below is read once.
    private static let mostLevels = 8

    private func isEquivalent(to other: JSONText, levels: Int) -> Bool {
        if self == other { return true }
        guard kind == other.kind else { return false }
        switch kind {
        case .array where levels == 0, .object where levels == 0: return EquivalenceKey(self) == EquivalenceKey(other)
        case .null, .boolean: return false
        case .string: return string == other.string
        case .number: return ExactDecimal(json: text).map { $0 == ExactDecimal(json: other.text) } ?? false
        case .array:
            let (mine, others) = (elements, other.elements)
            return mine.count == others.count
                && zip(mine, others).allSatisfy { $0.isEquivalent(to: $1, levels: levels - 1) }
        case .object:
            let (mine, others) = (lastMembers, other.lastMembers)
            return mine.count == others.count
                && mine.allSatisfy { name, value in
                    others[name].map { value.isEquivalent(to: $0, levels: levels - 1) } ?? false
                }
        }
    }

    /// The members of an object by name, of duplicates the last one; empty for any other kind.
    package var lastMembers: [String: JSONText] {
        Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }
    }
}
