/// Tells lists of all records from those that only find some of them.
enum PartialList {
    private static let searches: Set = [
        "q", "query", "search", "term", "keyword", "keywords", "searchterm", "searchtext", "phrase",
    ]
    private static let suggestions: Set = ["autocomplete", "typeahead", "suggest", "suggestions"]

    /// Whether the last name of a path says that it finds records: `advanced-search`, `searchUsers`.
    static func isSearch(_ name: String) -> Bool { Words.snake(name).split(separator: "_").contains("search") }

    /// Whether a parameter of this name takes what a person searches for.
    static func isSearchWord(_ name: String) -> Bool { searches.contains(Words.folded(name)) }

    /// Whether a path finds records: `/orders/search`, `/search/orders`.
    private static func isSearch(_ path: PathPattern) -> Bool { path.segments.suffix(2).contains(where: isSearch) }

    private static func isText(_ shape: DataShape) -> Bool {
        shape.kind == .string && shape.preset == nil && shape.enumValues.isEmpty
    }

    /// Why a list never answers all of its records; nil if it may.
    static func reason(_ list: APIOperation, _ item: DataShape, _ shapes: ShapeReader) -> String? {
        if list.path.segments.contains(where: { suggestions.contains(Words.folded($0)) }) {
            return "it only suggests records while a person types"
        }
        let needed =
            list.queries.first { $0.isRequired && searches.contains(Words.folded($0.name)) }
            ?? list.queries.first { $0.isRequired && ["id", "ids"].contains(Words.folded($0.name)) && $0.shape.isList }
            ?? list.queries.first { isSearch(list.path) && $0.isRequired && isText($0.shape) }
        return needed.map(ListFilter.only) ?? ListFilter(list: list, item: item, shapes: shapes).partReason()
    }
}
