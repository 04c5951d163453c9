/// Marks the part of a number that a search found, in the number as it is written, separators included.
enum FragmentMark {
    static let open = "«"
    static let close = "»"

    private static let separators = Set(SearchTable.separators.unicodeScalars)

    static func bare(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !separators.contains($0) }))
    }

    /// `text` with the first occurrence of `part` marked, ignoring separators and case; nil if there is none.
    static func marked(_ text: String, _ part: String) -> String? {
        let scalars = Array(text.unicodeScalars)
        let places = scalars.indices.filter { !separators.contains(scalars[$0]) }
        let wanted = bare(part).unicodeScalars.map(folded)
        let letters = places.map { folded(scalars[$0]) }
        guard !wanted.isEmpty, letters.count >= wanted.count else { return nil }
        let start = (0...(letters.count - wanted.count)).first { Array(letters[$0..<($0 + wanted.count)]) == wanted }
        guard let start else { return nil }
        let (first, last) = (places[start], places[start + wanted.count - 1])
        func joined(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }
        return joined(0..<first) + open + joined(first..<(last + 1)) + close + joined((last + 1)..<scalars.count)
    }

    private static func folded(_ scalar: Unicode.Scalar) -> String { scalar.properties.lowercaseMapping }
}
