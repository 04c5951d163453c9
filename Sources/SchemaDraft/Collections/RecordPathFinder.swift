/// Finds the path of one record of a list.
struct RecordPathFinder {
    private let shapes: ShapeReader
    /// The calls by the form of their path.
    private let calls: [String: [APIOperation]]
    /// The forms of the paths of GETs that end with a name right below a record, by that name.
    private let below: [String: Set<String>]

    init(_ document: OpenAPIDocument, _ calls: [String: [APIOperation]]) {
        shapes = document.shapes
        self.calls = calls
        below = document.operations.reduce(into: [:]) { below, operation in
            let names = PathPattern.withoutJSON(operation.path.segments)
            guard operation.method == "GET", names.count > 1, names[names.count - 2].contains("{") else { return }
            below[names[names.count - 1], default: []].insert(PathPattern.form(names))
        }
    }

    /// `/orders/{id}` of `/orders`; also `/orders({id})`, `/orders('{id}')`, `/order/{id}` and, for `/device/all`,
    /// `/device/id/{id}`.
    func path(of list: PathPattern, _ item: DataShape) -> PathPattern? {
        let base = Collection.base(of: list)
        let form = PathPattern.form(base)
        let forms = [form + "/{}", form + "/{}.json", form + "({})", form + "('{}')", form + "/id/{}"]
        let single = PathPattern.form(base.dropLast() + [Words.singular(base[base.count - 1])]) + "/{}"
        let byName = item.properties.contains { Words.folded($0.name) == "id" } ? [] : [form + "/name/{}"]
        for form in forms + byName + [single] {
            let others = (calls[form] ?? []).filter { $0.path != list && !Self.isExport($0) }
            let paths = Dictionary(grouping: others, by: \.path)
            // An id before other names; a GET there is a single read; the most calls.
            let best = paths.filter { isRecord($0.value, item) }.max { Self.worth($0) < Self.worth($1) }
            if let best { return best.key }
        }
        return shallow(base, item)
    }

    /// `/project/{id}` for `/organization/{}/project`, unless projects have a list there.
    private func shallow(_ base: [String], _ item: DataShape) -> PathPattern? {
        guard let first = base.firstIndex(where: { $0.contains("{") }), first > 0,
            let last = base.lastIndex(where: { $0.contains("{") }), last < base.count - 1
        else { return nil }
        let above = base[..<(first - 1)]
        let plural = PathPattern.form(above + base[(last + 1)...])
        let singular = PathPattern.form(above + base[(last + 1)...].dropLast() + [Words.singular(base[base.count - 1])])
        let isListed = [plural, singular].flatMap { [$0, $0 + ".json"] }.contains { form in
            calls[form]?.contains { $0.method == "GET" } == true
        }
        let record = RecordMatch(item: item, shapes: shapes)
        // The record of an answer that has it as a member could be that of several lists.
        let isOnly = below[base[base.count - 1]]?.count == 1
        for form in isListed ? [] : [plural, singular] {
            let found = (calls[form + "/{}"] ?? []) + (calls[form + "/{}.json"] ?? [])
            let single = found.first { call in
                call.method == "GET" && (isOnly ? record.isOne(call.answer) : call.answer.map(record.isRecord) == true)
            }
            if let single { return single.path }
            guard isOnly, !found.contains(where: { $0.method == "GET" }) else { continue }
            if let change = found.first(where: { changes($0, record) }) { return change.path }
        }
        return nil
    }

    /// Whether a call changes such a record, by its answer, or by its body where it answers nothing.
    private func changes(_ call: APIOperation, _ record: RecordMatch) -> Bool {
        guard ["PATCH", "PUT"].contains(call.method) else { return false }
        if let answer = call.answer, !answer.properties.isEmpty { return record.isOne(answer) }
        let names = call.bodies.first(where: \.isJSON)?.shape.properties.map(\.name) ?? []
        return names.count > 1 && names.allSatisfy { record.item[$0] != nil }
    }

    private static let formats: Set = ["csv", "xls", "xlsx", "ods", "pdf", "xml", "json", "html", "txt", "zip", "mail"]

    /// Whether the end of a path says in which format the list comes: `/events/{type}`, which is `xlsx` or `mail`.
    private static func isExport(_ call: APIOperation) -> Bool {
        guard let name = call.path.parameters.last, let said = PathParameter.said(name, in: call.parameters) else {
            return false
        }
        return said.shape.enumValues.contains { formats.contains($0.value.lowercased()) }
    }

    /// Whether calls are for one record, not only for a list of some.
    private func isRecord(_ calls: [APIOperation], _ item: DataShape) -> Bool {
        guard calls.count < 2, let only = calls.first, only.method == "GET", let answer = only.answer else {
            return !calls.isEmpty
        }
        if answer.isList { return false }
        // `/prices/{product}` lists what `/prices/{product}/{currency}` serves.
        guard self.calls[only.path.form + "/{}"] != nil,
            case .list(let list) = ListFinder(shapes: shapes).find(in: answer, of: only.path)
        else { return true }
        return list.item.properties.map(\.name) != item.properties.map(\.name)
    }

    private static func worth(_ path: (key: PathPattern, value: [APIOperation])) -> (Int, Int, Int, String) {
        (
            path.key.parameters.last.map(PathParameter.ends) == true ? 1 : 0,
            path.value.contains { $0.method == "GET" } ? 1 : 0, path.value.count, path.key.text
        )
    }
}
