/// Marks the part of a number that a search found, in the number as it is written, separators included.
struct FragmentMark {
    static let open = "«"
    static let close = "»"

    private static let separators = Set(SearchTable.separators.unicodeScalars)

    private let scalars: [Unicode.Scalar]
    /// Those that are no separators, by their places in `scalars`, and in lower case.
    private let places: [Int]
    private let letters: [String]

    /// `text`: the number.
    init(_ text: String) {
        let scalars = Array(text.unicodeScalars)
        let places = scalars.indices.filter { !Self.separators.contains(scalars[$0]) }
        self.scalars = scalars
        self.places = places
        letters = places.map { Self.folded(scalars[$0]) }
    }

    static func bare(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !separators.contains($0) }))
    }

    /// The number with the first occurrence of `part` marked, ignoring separators and case; nil if there is none.
    func marked(_ part: String) -> String? {
        let wanted = Self.bare(part).unicodeScalars.map(Self.folded)
        guard !wanted.isEmpty, letters.count >= wanted.count else { return nil }
        let start = (0...(letters.count - wanted.count)).first { start in
            letters[start..<(start + wanted.count)].elementsEqual(wanted)
        }
        guard let start else { return nil }
        let (first, last) = (places[start], places[start + wanted.count - 1])
        func joined(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }
        return joined(0..<first) + Self.open + joined(first..<(last + 1)) + Self.close
            + joined((last + 1)..<scalars.count)
    }

    private static func folded(_ scalar: Unicode.Scalar) -> String { scalar.properties.lowercaseMapping }
}
