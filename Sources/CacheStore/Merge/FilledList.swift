internal import JSONText

/// A list of objects that was sent, and in which servers fill in members: an order's line is sent without `id` and
/// `created_at`, and shown with both. What was sent may be written otherwise, such as 8 as `"8.00"`.
struct FilledList {
    let sent: JSONText
    /// The list that the server had before.
    let before: JSONText

    /// Each object is compared with each one before and each one shown; longer lists are never taken for this one.
    private static let mostComparisons = 100_000
    /// How many values of members are compared; a long one counts as one more for each 32 bytes. The server chooses what its
    /// objects have: if each one nearly fits many others, nearly all members are compared.
    private static let mostValues = 300_000

    private typealias Members = [String: JSONText]

    /// Whether a list is this one as the server has filled it in or written it, in any order. If the list before showed all
    /// that was sent, members that an object had there do not count as filled in, and values only as they were sent: what was
    /// sent may have removed these members, or written the values otherwise.
    ///
    /// `room`: how many more values may be compared in this transaction. Once it is used up, no list counts as this one.
    func isShown(by list: JSONText, within room: inout Int) -> Bool {
        guard room > 0, sent.kind == .array, list.kind == .array else { return false }
        let (mine, theirs) = (sent.elements, list.elements)
        guard !mine.isEmpty, mine.count == theirs.count else { return false }
        let before = before.elements
        guard max(before.count, theirs.count) * mine.count <= Self.mostComparisons else { return false }
        let shown = search(mine, theirs, [], within: &room)
        guard shown.isFound, shown.isFilled else { return false }
        guard before.count == mine.count, search(mine, before, [], within: &room).isFound else { return true }
        return search(mine, theirs, before, within: &room).isFound
    }

    private func search(
        _ mine: [JSONText], _ theirs: [JSONText], _ before: [JSONText], within room: inout Int
    ) -> (isFound: Bool, isFilled: Bool) {
        let most = min(room, Self.mostValues)
        var search = Search(mine: mine, theirs: theirs, before: before, room: most)
        let isFound = search.finds()
        room -= most - search.room
        return (isFound, search.isFilled)
    }

    /// The search for an object of the server's list for each one that was sent.
    private struct Search {
        private let mine: [JSONText]
        private let theirs: [JSONText]
        private let sent: [Members]
        private let shown: [Members]
        private let before: [Members]
        private var left: [Int]
        private(set) var isFilled = false
        /// How many more values may be compared. Once it is negative, nothing fits any more.
        private(set) var room: Int

        init(mine: [JSONText], theirs: [JSONText], before: [JSONText], room: Int) {
            (self.mine, self.theirs, self.room) = (mine, theirs, room)
            (sent, shown) = (mine.map(\.lastMembers), theirs.map(\.lastMembers))
            self.before = before.map(\.lastMembers)
            left = Array(theirs.indices)
        }

        mutating func finds() -> Bool {
            // The objects with most members choose first: they fit the fewest.
            for index in sent.indices.sorted(by: { sent[$0].count > sent[$1].count }) {
                guard let found = position(for: index) else { return false }
                let place = left.remove(at: found)
                isFilled = isFilled || !mine[index].isEquivalent(to: theirs[place])
            }
            return true
        }

        /// Where in `left` an object of the server's list fits; nil if none does.
        private mutating func position(for index: Int) -> Int? {
            if let same = left.firstIndex(of: index), fits(index, index) { return same }
            for position in left.indices where fits(index, left[position]) { return position }
            return nil
        }

        private mutating func fits(_ index: Int, _ place: Int) -> Bool {
            let isExact = !before.isEmpty
            guard mine[index].kind == .object, theirs[place].kind == .object else {
                return isSame(mine[index], theirs[place], exactly: isExact)
            }
            guard has(shown[place], sent[index], exactly: isExact) else { return false }
            room -= shown[place].count
            guard room >= 0 else { return false }
            let added = shown[place].filter { sent[index][$0.key] == nil }
            guard !added.isEmpty else { return true }
            for known in before where has(known, added, exactly: false) { return false }
            return room >= 0
        }

        private mutating func has(_ known: Members, _ members: Members, exactly: Bool) -> Bool {
            for (name, value) in members {
                guard isSame(value, known[name] ?? .null, exactly: exactly) else {
                    room -= 1
                    return false
                }
            }
            return true
        }

        private mutating func isSame(_ one: JSONText, _ other: JSONText, exactly: Bool) -> Bool {
            room -= 1 + (one.bytes.count + other.bytes.count) / 32
            return room >= 0 && (exactly ? one.isEquivalent(to: other) : one.isKept(in: other))
        }
    }
}
