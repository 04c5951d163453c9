internal import Glibc

/// A text that is another one only byte for byte, as SQLite and most servers compare: above all the key of a record.
///
/// As texts of Swift, `é` is equal to an `e` with an accent after it, so two records could be taken for one.
package struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    package static func == (one: ExactText, other: ExactText) -> Bool { one.difference(from: other) == 0 }

    /// In the order of the bytes, as SQLite sorts.
    package static func < (one: ExactText, other: ExactText) -> Bool { one.difference(from: other) < 0 }

    package func hash(into hasher: inout Hasher) {
        text.utf8.span.withUnsafeBytes { hasher.combine(bytes: $0) }
        // No text has this byte, so that what is hashed next is no part of it.
        hasher.combine(0xFF as UInt8)
    }

    /// Zero for the same bytes, negative if these come first.
    private func difference(from other: ExactText) -> Int {
        text.utf8.span.withUnsafeBytes { mine in
            other.text.utf8.span.withUnsafeBytes { theirs in
                guard let start = mine.baseAddress, let otherStart = theirs.baseAddress else {
                    return mine.count - theirs.count
                }
                let first = Int(memcmp(start, otherStart, min(mine.count, theirs.count)))
                return first == 0 ? mine.count - theirs.count : first
            }
        }
    }
}

extension String {
    /// For comparing it byte for byte.
    package var exact: ExactText { ExactText(self) }
}

extension Sequence<String> {
    /// Each of these texts once.
    package var exactSet: Set<ExactText> { Set(lazy.map(\.exact)) }
}
