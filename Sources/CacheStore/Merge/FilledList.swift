internal import JSONText

/// A list of objects that was sent, and in which servers fill in members: an order's line is sent without `id` and
/// `created_at`, and shown with both.
struct FilledList {
    let sent: JSONText
    /// The list that the server had before.
    let before: JSONText

    /// Each object is compared with each one before and each one shown; longer lists are never taken for this one.
    private static let mostComparisons = 100_000

    private typealias Members = [String: JSONText]

    /// Whether a list is this one with members that the server filled in, in any order. Members that an object had before
    /// do not count as filled in: what was sent may have removed them.
    func isShown(by list: JSONText) -> Bool {
        guard sent.kind == .array, list.kind == .array else { return false }
        let (mine, theirs) = (sent.elements, list.elements)
        guard !mine.isEmpty, mine.count == theirs.count else { return false }
        let before = before.elements
        guard max(before.count, theirs.count) * mine.count <= Self.mostComparisons else { return false }
        var search = Search(mine: mine, theirs: theirs, before: before)
        return search.finds() && search.isFilled
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

        init(mine: [JSONText], theirs: [JSONText], before: [JSONText]) {
            (self.mine, self.theirs) = (mine, theirs)
            (sent, shown) = (mine.map(\.lastMembers), theirs.map(\.lastMembers))
            self.before = before.map(\.lastMembers)
            left = Array(theirs.indices)
        }

        mutating func finds() -> Bool {
            // The objects with most members choose first: they fit the fewest.
            for index in sent.indices.sorted(by: { sent[$0].count > sent[$1].count }) {
                let same = left.firstIndex(of: index).flatMap { fits(index, index) ? $0 : nil }
                guard let found = same ?? left.firstIndex(where: { fits(index, $0) }) else { return false }
                let place = left.remove(at: found)
                isFilled = isFilled || shown[place].count > sent[index].count
            }
            return true
        }

        private func fits(_ index: Int, _ place: Int) -> Bool {
            guard mine[index].kind == .object, theirs[place].kind == .object else {
                return mine[index].isEquivalent(to: theirs[place])
            }
            let has = { (known: Members, members: Members) in
                members.allSatisfy { known[$0.key]?.isEquivalent(to: $0.value) ?? false }
            }
            guard has(shown[place], sent[index]) else { return false }
            let added = shown[place].filter { sent[index][$0.key] == nil }
            return added.isEmpty || !before.contains { has($0, added) }
        }
    }
}
