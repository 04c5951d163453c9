/// Tells lists of all records from those that only find some of them.
struct PartialList {
    let list: APIOperation
    let shapes: ShapeReader
    private let filter: ListFilter

    private static let searches: Set = [
        "q", "query", "search", "term", "keyword", "keywords", "searchterm", "searchtext", "phrase",
    ]
    private static let suggestions: Set = ["autocomplete", "typeahead", "suggest", "suggestions"]

    /// `item`: a record of the list.
    init(_ list: APIOperation, item: DataShape, shapes: ShapeReader) {
        self.list = list
        self.shapes = shapes
        filter = ListFilter(list: list, item: item, shapes: shapes)
    }

    /// Whether a parameter of this name takes what a person searches for.
    static func isSearchWord(_ name: String) -> Bool { searches.contains(Words.folded(name)) }

    /// Why the list never answers all of its records; nil if it may.
    func reason() -> String? {
        if list.path.segments.contains(where: { Self.suggestions.contains(Words.folded($0)) }) {
            return "it only suggests records while a person types"
        }
        let needed = list.queries.filter(\.isRequired)
        let searched =
            needed.first { Self.isSearchWord($0.name) }
            ?? needed.first { ["id", "ids"].contains(Words.folded($0.name)) && $0.shape.isList }
            ?? needed.first { isSearch && Self.isText($0.shape) }
        return searched.map(Self.only) ?? sought() ?? needed.first { isFinding && isOpen($0) }.map(Self.only)
    }

    private static func only(_ parameter: APIOperation.Parameter) -> String {
        "it answers only what its parameter \(parameter.name) finds"
    }

    /// Why `/orders/findByStatus` answers only the orders of some status.
    private func sought() -> String? {
        for sought in FindingLists.sought(list.path.lastSegment) {
            guard let parameter = list.queries.first(where: { ListFilter.isNamed($0.name, sought) }) else {
                return "it answers only what it finds by \(sought)"
            }
            if filter.whole(parameter) == nil { return Self.only(parameter) }
        }
        return nil
    }

    // MARK: Paths

    /// Whether the path says that it searches: `/orders/advanced-search`, `/search/orders`.
    private var isSearch: Bool {
        list.path.segments.suffix(2).contains { Words.parts(of: $0).contains("search") }
    }

    private var isFinding: Bool { list.path.findsParent || FindingLists.isFinding(list.path.lastSegment) }

    // MARK: Parameters

    private static func isText(_ shape: DataShape) -> Bool {
        shape.kind == .string && shape.preset == nil && shape.enumValues.isEmpty
    }

    /// Whether a parameter takes any text, other than the key of a record around the list.
    private func isOpen(_ parameter: APIOperation.Parameter) -> Bool {
        let shape = parameter.shape.isList ? shapes.elements(of: parameter.shape) : parameter.shape
        return shape.kind == .string && shape.preset == nil && !PathParameter.ends(parameter.name)
            && !parameter.isToken && !parameter.isPaging && FixedParameter.value(of: parameter) == nil
            && filter.whole(parameter) == nil
    }
}
