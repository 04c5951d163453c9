/// Lists whose path ends with a name in braces that chooses one of them: `/orders/{direction}`, `/flags/{project}`.
struct ChosenLists {
    let shapes: ShapeReader
    /// The calls by the form of their path.
    let calls: [String: [APIOperation]]

    /// Whether a GET at such a path answers a list of records, each of which is at a longer path: `/flags/{project}/{flag}`.
    func isList(_ operation: APIOperation) -> Bool {
        guard let item = item(of: operation), !isBelowGET(operation.path) else { return false }
        let record = RecordMatch(item: item, shapes: shapes)
        return (calls[operation.path.form + "/{}"] ?? []).contains { $0.method == "GET" && record.isOne($0.answer) }
    }

    /// The others whose records no list of the draft has.
    func missing(_ operations: [APIOperation], beside found: CollectionFinder.Found) -> [LeftOut] {
        let known = Set(found.collections.map(\.path.text) + found.leftOut.map(\.path))
        let records = Set(found.collections.compactMap(\.recordPath?.form))
        return operations.compactMap { operation in
            let path = operation.path
            guard operation.method == "GET", let name = PathPattern.parameters(path.lastSegment).last,
                !known.contains(path.text), !records.contains(path.form), !isBelowGET(path),
                let item = item(of: operation), !item.properties.isEmpty
            else { return nil }
            let record = RecordMatch(item: item, shapes: shapes)
            guard !found.collections.contains(where: { record.isRecord($0.answer.item) }) else { return nil }
            return LeftOut(
                path: path.text, why: .chosen,
                reason: "it answers a list for each {\(name)}; write one with that value in its pull.path")
        }
    }

    /// What its answer lists.
    private func item(of operation: APIOperation) -> DataShape? {
        guard let answer = operation.answer, !PathPattern.parameters(operation.path.lastSegment).isEmpty,
            case .list(let list) = ListFinder(shapes: shapes).find(in: answer, of: operation.path)
        else { return nil }
        return list.item
    }

    /// Whether the path before the last name answers something, so that the name is mostly that of one record there.
    private func isBelowGET(_ path: PathPattern) -> Bool {
        calls[PathPattern.form(path.segments.dropLast())]?.contains { $0.method == "GET" } == true
    }
}
