internal import JSONText

/// A list of objects that was sent, and in which servers fill in members: an order's line is sent without `id` and
/// `created_at`, and shown with both.
struct FilledList {
    let sent: JSONText
    /// The list that the server had before.
    let before: JSONText

    /// Each object is compared with each one before; longer lists are never taken for this one.
    private static let mostComparisons = 1_000_000

    /// Whether a list is this one with members that the server filled in. Members that an object had before do not count as
    /// filled in: what was sent may have removed them.
    func isShown(by list: JSONText) -> Bool {
        guard sent.kind == .array, list.kind == .array else { return false }
        let (mine, theirs) = (sent.elements, list.elements)
        guard !mine.isEmpty, mine.count == theirs.count else { return false }
        let before = before.elements.map(\.lastMembers)
        guard before.count * mine.count <= Self.mostComparisons else { return false }
        func has(_ known: [String: JSONText], _ members: [String: JSONText]) -> Bool {
            members.allSatisfy { known[$0.key]?.isEquivalent(to: $0.value) ?? false }
        }
        var isFilled = false
        for (one, other) in zip(mine, theirs) {
            if one.isEquivalent(to: other) { continue }
            guard let added = Self.added(to: one, in: other), !before.contains(where: { has($0, added) }) else {
                return false
            }
            isFilled = true
        }
        return isFilled
    }

    /// The members that one object has besides all of another's; nil if it lacks one.
    private static func added(to object: JSONText, in filled: JSONText) -> [String: JSONText]? {
        guard object.kind == .object, filled.kind == .object else { return nil }
        var rest = filled.lastMembers
        for (name, value) in object.members {
            guard let other = rest.removeValue(forKey: name) else { return nil }
            guard value.isEquivalent(to: other) else { return nil }
        }
        return rest
    }
}
