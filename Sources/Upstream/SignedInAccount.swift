/// Whom the upstream takes us for.
package struct SignedInAccount: Sendable, Equatable {
    /// Owns the records: each has a cache of its own.
    package var id: String
    /// For people; nil if the schema or the answer does not say.
    package var name: String?
    /// What people call the account itself, such as the company's name; nil if the schema or the answer does not say.
    package var title: String?
    /// A gateway repeated the answer, which may be about another caller.
    package var isRepeated: Bool

    /// In bytes. An answer with a longer one is refused.
    static let longestID = 1000
    /// In Unicode scalars. A longer one is cut.
    static let longestName = 500

    package init(id: String, name: String? = nil, title: String? = nil, isRepeated: Bool = false) {
        self.id = id
        self.name = name
        self.title = title
        self.isRepeated = isRepeated
    }

    /// Who is signed in, and to which account, as far as there are names for them: `Ada Baker (Fix It Ltd)`.
    package var shown: String {
        if let name { return "\(name) (\(title ?? id))" }
        return title.map { "\($0) (\(id))" } ?? id
    }
}
