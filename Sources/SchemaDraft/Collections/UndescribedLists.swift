/// Lists of whose records the document says nothing: those that it describes at the path of one record, and those that a draft
/// has to leave out.
struct UndescribedLists {
    let shapes: ShapeReader
    /// The calls by the form of their path.
    let calls: [String: [APIOperation]]

    /// The list with records as the call for one of them answers them: `GET /orders` with `[{}]` beside `GET /orders/{id}`.
    func list(_ finding: ListFinder.Finding, _ answer: DataShape, at path: PathPattern) -> ListAnswer? {
        let names: [String]
        switch finding {
        case .list(let list) where list.item.properties.isEmpty && !list.item.isMap: names = list.names
        case .nothing where answer.isList && shapes.elements(of: answer).kind == .unknown: names = []
        default: return nil
        }
        guard let single = one(path).first(where: { $0.method == "GET" }), let item = record(in: single, of: path)
        else { return nil }
        return ListAnswer(names: names, wrapper: nil, item: item, answer: answer)
    }

    /// What a call for one record answers: the record, or an object that has it under its name, as in `{"order": {…}}`.
    private func record(in single: APIOperation, of list: PathPattern) -> DataShape? {
        guard let answer = single.answer, !answer.isList else { return nil }
        let names = PathParameter.stems(of: list, last: 1).map(Words.folded)
        let inner = answer.properties.filter { names.contains(Words.folded($0.name)) }.map(shapes.shape)
        return ([answer] + inner).first { $0.kind == .object && KeyGuess.hasOwnKey($0, of: single.path, shapes) }
    }

    /// Why a GET without a list in its answer is left out, if there are calls for one record of it; nil for others.
    func reason(_ operation: APIOperation) -> String? {
        guard !one(operation.path).isEmpty, isOpen(operation.answer ?? DataShape()) else { return nil }
        guard operation.answer?.isMap == true else { return "the document does not say what it answers" }
        return "it answers an object with any names; if each has a record, "
            + "write records: \"*\" and key: { field: id, from: $name }"
    }

    /// Whether an answer may be anything, or a list or object of anything.
    private func isOpen(_ answer: DataShape) -> Bool {
        if answer.isList { return shapes.elements(of: answer).kind == .unknown }
        return answer.properties.isEmpty && (answer.kind == .unknown || answer.kind == .object)
    }

    /// The calls for one record of a list.
    private func one(_ list: PathPattern) -> [APIOperation] {
        calls[PathPattern.form(Collection.base(of: list)) + "/{}"] ?? []
    }
}
