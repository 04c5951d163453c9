/// Whom the upstream takes us for.
package struct SignedInAccount: Sendable, Equatable {
    /// Owns the records: each has a cache of its own.
    package var id: String
    /// For people; nil if the schema or the answer does not say.
    package var name: String?
    /// A gateway repeated the answer, which may be about another caller.
    package var isRepeated: Bool

    /// In bytes. An answer with a longer one is refused.
    static let longestID = 1000
    /// In Unicode scalars. A longer one is cut.
    static let longestName = 500

    package init(id: String, name: String? = nil, isRepeated: Bool = false) {
        self.id = id
        self.name = name
        self.isRepeated = isRepeated
    }
}
