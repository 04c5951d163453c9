/// Finds the name that a mistyped one was probably meant to be.
package enum Suggestion {
    /// Says that a name is none of the candidates, which are names of a `word`, and lists them.
    package static func refusal(
        of name: String, _ word: String, among candidates: [String], listedAfter start: String = "Use any of"
    ) -> String {
        let list = candidates.joined(separator: ", ")
        guard !name.isEmpty else { return "expected one of \(list), got nothing" }
        return "there is no \(word) \(name.prefix(50))\(hint(for: name, among: candidates, else: ".")) \(start) \(list)"
    }

    /// For the end of a sentence in an error message: `; did you mean orders?`, or `end` when no candidate is near.
    package static func hint(for name: String, among candidates: some Sequence<String>, else end: String = "") -> String
    {
        nearest(to: name, among: candidates).map { "; did you mean \($0)?" } ?? end
    }

    /// Says that an entity has no field of a name.
    static func noField(_ name: String, of entity: Entity) -> String {
        "\(entity.name) has no field \(name)\(hint(for: name, among: entity.fields.map(\.name)))"
    }

    /// The candidate that differs in case alone, else the one with the smallest edit distance; of several, one that has
    /// only more letters. When none is within a third of the name's length, the only one that has the name as a whole
    /// word, such as `created_at` for `created`.
    package static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
        // Comparing a text of a megabyte takes seconds, and it is no slip of the pen. Nor is an empty one.
        guard (1...200).contains(name.utf8.count) else { return nil }
        if let same = candidates.first(where: { $0.lowercased() == name.lowercased() }) { return same }
        let count = name.count
        let limit = max(1, count / 3)
        // Most candidates differ too much in their length alone.
        let near = candidates.filter { abs($0.count - count) <= limit }
        let nearest = near.map { ($0, distance(name, $0)) }.filter { $0.1 <= limit }.min { one, other in
            one.1 != other.1 ? one.1 < other.1 : isWhole(one.0, of: name) && !isWhole(other.0, of: name)
        }
        return nearest?.0 ?? only(candidates, withWord: name)
    }

    private static func only(_ candidates: some Sequence<String>, withWord name: String) -> String? {
        guard name.count > 2 else { return nil }
        let found = candidates.filter { $0.split(separator: "_").contains { $0 == name } }
        return found.count == 1 ? found[0] : nil
    }

    /// Whether the candidate has all letters of the name, in their order.
    private static func isWhole(_ candidate: String, of name: String) -> Bool {
        var rest = name[...]
        for letter in candidate where letter == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }

    /// Levenshtein's distance, one row at a time. Two letters in the wrong order are one mistake.
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        var earlier: [Int] = []
        var last = Array(0...other.count)
        for index in one.indices {
            var row = [index + 1]
            for column in other.indices {
                let isSame = one[index] == other[column]
                var least = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, row[column] + 1)
                if index > 0, column > 0, one[index] == other[column - 1], one[index - 1] == other[column] {
                    least = min(least, earlier[column - 1] + 1)
                }
                row.append(least)
            }
            (earlier, last) = (last, row)
        }
        return last[other.count]
    }
}
