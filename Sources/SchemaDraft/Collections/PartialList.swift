/// Tells lists of all records from those that only find some of them.
enum PartialList {
    private static let searches: Set = [
        "q", "query", "search", "term", "keyword", "keywords", "searchterm", "searchtext", "phrase",
    ]
    private static let suggestions: Set = ["autocomplete", "typeahead", "suggest", "suggestions"]

    /// Why a list never answers all of its records; nil if it may.
    static func reason(_ list: APIOperation) -> String? {
        if list.path.segments.contains(where: { suggestions.contains(Words.folded($0)) }) {
            return "it only suggests records while a person types"
        }
        let needed =
            list.queries.first { $0.isRequired && searches.contains(Words.folded($0.name)) }
            ?? list.queries.first { $0.isRequired && ["id", "ids"].contains(Words.folded($0.name)) && $0.shape.isList }
        return needed.map { "it answers only what its parameter \($0.name) finds" }
    }
}
