/// What a list is asked with, beside what the paging sends.
struct ListQuery {
    private let collection: Collection
    private let shapes: ShapeReader
    private let isObserved: Bool
    /// Parameters without which the list does not answer, or not all records.
    private(set) var sent: [DraftEntity.Query] = []

    init(of collection: Collection, _ paging: DraftPaging, _ document: OpenAPIDocument) {
        self.collection = collection
        shapes = document.shapes
        isObserved = document.isObserved
        sent = needed(beside: paging)
    }

    /// What a person has to check about the list's parameters.
    var todos: [String] { isObserved ? [] : filter.todos(sent: Set(sent.map(\.name))) }

    private func needed(beside paging: DraftPaging) -> [DraftEntity.Query] {
        let parameters = collection.list.queries.filter {
            !$0.name.contains("{") && !paging.sent.contains($0.name) && !$0.isToken
        }
        let needed = parameters.compactMap { parameter -> DraftEntity.Query? in
            let name = parameter.name
            if let shown = HiddenRecords.value(of: parameter, item: collection.answer.item) {
                return DraftEntity.Query(
                    name: name, values: [shown], reason: "without it the list hides some records")
            }
            let mayBeWhole =
                parameter.isRequired || !HiddenRecords.bringsBackDeleted(parameter, item: collection.answer.item)
            if mayBeWhole, !isObserved, let whole = filter.whole(parameter) {
                return DraftEntity.Query(
                    name: name, values: whole.values, separator: whole.separator,
                    reason: "so that the list has all records")
            }
            guard parameter.isRequired else { return nil }
            if let known = FixedParameter.value(of: parameter), !known.contains("{") {
                return DraftEntity.Query(name: name, values: [known], reason: "the list needs it")
            }
            // Of two lists, each with kinds of its own, one setting could name the kind of only one.
            let isChoice = !parameter.shape.enumValues.isEmpty
            let setting = DraftSetting.text(PathFiller.setting(isChoice ? "\(collection.name)_\(name)" : name))
            return DraftEntity.Query(
                name: name, values: [setting], reason: "the list needs it: set upstream.settings")
        }
        let order = DraftEntity.Query(
            name: "order", values: ["\(collection.key.value).asc"], reason: "so that pages do not overlap")
        return (RowFilters.has(collection.list) ? [order] : []) + needed.prefix(10)
    }

    private var filter: ListFilter {
        ListFilter(list: collection.list, item: collection.answer.item, shapes: shapes)
    }

    /// `?order=asc`, for these parameters; nil if one of them is a setting.
    var fixed: String? {
        let isPlain = sent.allSatisfy { query in
            FixedParameter.isPlain(query.name) && query.values.allSatisfy(FixedParameter.isPlain)
                && [nil, ","].contains(query.separator)
        }
        guard isPlain, !sent.isEmpty else { return isPlain ? "" : nil }
        return "?" + sent.flatMap { query in query.sent.map { "\(query.name)=\($0)" } }.joined(separator: "&")
    }
}
