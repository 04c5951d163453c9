/// Finds the name that a mistyped one was probably meant to be.
package enum Suggestion {
    /// For the end of an error message: `; did you mean orders?`, or nothing when no candidate is near.
    static func hint(for name: String, among candidates: some Sequence<String>) -> String {
        nearest(to: name, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }

    /// The candidate with the smallest edit distance; nil when none is within a third of the name's length.
    package static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
        let limit = max(1, name.count / 3)
        return candidates.map { ($0, distance(name, $0)) }.filter { $0.1 <= limit }.min { $0.1 < $1.1 }?.0
    }

    /// Levenshtein's distance, one row at a time.
    private static func distance(_ one: String, _ other: String) -> Int {
        let other = Array(other)
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let substitution = diagonal + (letter == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substitution, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
