/// Finds the lists whose last name only says that they find the records of the path before it: `/pet/findByStatus` beside
/// `/pet/{id}`, `/orders/search` beside `POST /orders`.
struct FindingLists {
    let document: OpenAPIDocument
    private let calls: [String: [APIOperation]]

    static let verbs: Set = [
        "find", "search", "get", "list", "query", "filter", "lookup", "fetch", "browse", "retrieve",
    ]
    /// Words beside the verb that leave out no records.
    private static let plain: Set = ["all", "list", "page", "paged", "paginated", "advanced", "every"]
    /// Before `by`: it says how the list is sorted.
    private static let orders: Set = ["order", "ordered", "sort", "sorted", "group", "grouped"]

    init(_ document: OpenAPIDocument) {
        self.document = document
        calls = Dictionary(grouping: document.operations) { $0.path.form }
    }

    /// The calls of the document, with these lists marked.
    func operations() -> [APIOperation] {
        guard !document.isObserved else { return document.operations }
        return document.operations.map { operation in
            var marked = operation
            marked.path.findsParent = true
            return findsParent(marked) ? marked : operation
        }
    }

    // MARK: Names

    /// Whether the last name of a path says that the list finds records.
    static func isFinding(_ name: String) -> Bool {
        let words = Words.parts(of: name)
        return words.contains { ["find", "search", "lookup"].contains($0) } || !sought(name).isEmpty
    }

    /// By what a list finds records, as the last name of its path says it: `status` for `findByStatus`, `status` and `type`
    /// for `by-status-and-type`.
    static func sought(_ name: String) -> [String] {
        let words = Words.parts(of: name)
        guard let by = words.firstIndex(of: "by"), by == 0 || verbs.contains(words[0]), by < words.count - 1,
            by == 0 || !orders.contains(words[by - 1])
        else { return [] }
        return words[(by + 1)...].split { ["and", "or"].contains($0) }.map { $0.joined() }
    }

    /// Whether a name says no more than that it finds or lists records called so: not `getCancelled`.
    private static func saysOnlyThat(_ name: String, of parent: String) -> Bool {
        let words = Words.parts(of: name)
        let before = words.prefix(words.firstIndex(of: "by") ?? words.count)
        let own = Set(Words.parts(of: parent).map(Words.singular))
        let others = before.filter { !plain.contains($0) && !own.contains(Words.singular($0)) }
        let isVerb = before.contains(where: verbs.contains) && others.allSatisfy(verbs.contains)
        return isVerb || before.isEmpty && !sought(name).isEmpty
    }

    // MARK: Calls

    private func findsParent(_ list: APIOperation) -> Bool {
        let names = PathPattern.withoutJSON(list.path.segments)
        guard list.method == "GET", names.count > 1, let answer = list.answer,
            !Collection.listWords.contains(Words.folded(names[names.count - 1])),
            PathPattern.parameters(names[names.count - 1]).isEmpty,
            PathPattern.parameters(names[names.count - 2]).isEmpty,
            Self.saysOnlyThat(names[names.count - 1], of: names[names.count - 2]),
            case .list(let found) = ListFinder(shapes: document.shapes).find(in: answer, of: list.path)
        else { return false }
        let form = PathPattern.form(names.dropLast())
        let record = RecordMatch(item: found.item, shapes: document.shapes)
        let own = (calls[form] ?? []) + (calls[form + ".json"] ?? [])
        // A list there has all records, or may have.
        guard own.allSatisfy({ $0.method != "GET" || record.isIn($0.answer) }) else { return false }
        let single = (calls[form + "/{}"] ?? []) + (calls[form + "/{}.json"] ?? [])
        if let read = single.first(where: { $0.method == "GET" }) { return record.isIn(read.answer) }
        return single.contains { $0.method == "PUT" && sends($0, record) }
            || own.contains { $0.method == "POST" && sends($0, record) } || isBesideActions(names, record)
    }

    /// Whether calls beside it do something with one of its records, by what they send or answer; or by their names, as
    /// `/account/UpdateAccount` does beside `/account/GetAllAccounts`.
    private func isBesideActions(_ names: [String], _ record: RecordMatch) -> Bool {
        let own = Words.folded(Words.singular(names[names.count - 2]))
        let isNamed = Words.folded(names[names.count - 1]).contains(own)
        return ActionCalls(calls: calls).all(below: names.dropLast()).contains { call in
            call.method == "GET" ? record.isIn(call.answer) : isNamed || sends(call, record)
        }
    }

    private func sends(_ call: APIOperation, _ record: RecordMatch) -> Bool {
        record.isOne(call.answer) || call.bodies.contains { $0.isJSON && record.isOne($0.shape) }
    }
}
