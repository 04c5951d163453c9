/// Finds the collections of a document: its lists, each with the calls for one record.
struct CollectionFinder {
    let document: OpenAPIDocument
    /// The calls by the form of their path.
    private let calls: [String: [APIOperation]]

    /// More lists than these are left out.
    private static let most = 1000

    init(document: OpenAPIDocument) {
        self.document = document
        calls = Dictionary(grouping: document.operations) { $0.path.form }
    }

    struct Found {
        var collections: [Collection] = []
        var leftOut: [LeftOut] = []
    }

    func find() -> Found {
        var found = Found()
        for operation in document.operations where operation.method == "GET" && found.collections.count < Self.most {
            guard PathPattern.parameters(operation.path.lastSegment).isEmpty, let answer = operation.answer else {
                continue
            }
            switch ListFinder(shapes: document.shapes).find(in: answer, of: operation.path) {
            case .nothing: continue
            case .other(let reason):
                found.leftOut.append(LeftOut(path: operation.path.text, why: .noList, reason: reason))
            case .list(let list): add(operation, list, to: &found)
            }
        }
        leaveOutViews(&found)
        EntityNames().name(&found.collections)
        return found
    }

    private func add(_ operation: APIOperation, _ answer: ListAnswer, to found: inout Found) {
        let path = recordPath(of: operation.path)
        guard let key = KeyGuess(shapes: document.shapes).key(of: answer.item, at: operation.path, record: path) else {
            found.leftOut.append(
                LeftOut(path: operation.path.text, why: .noKey, reason: KeyGuess.missing(answer.item)))
            return
        }
        var collection = Collection(list: operation, answer: answer, recordPath: path, key: key)
        if let path {
            for call in calls[path.form] ?? [] where call.path == path { collection.recordCalls[call.method] = call }
        }
        collection.creation =
            [operation.path.form, PathPattern.form(collection.base[...])].lazy.compactMap { form in
                calls[form]?.first { $0.method == "POST" && $0.path.parameters == operation.path.parameters }
            }.first
        found.collections.append(collection)
    }

    /// `/orders/{id}` of `/orders`; also `/orders({id})`, `/order/{id}` and, for `/device/all`, `/device/id/{id}`.
    private func recordPath(of list: PathPattern) -> PathPattern? {
        let base = Collection.base(of: list)
        let form = PathPattern.form(base[...])
        let forms = [form + "/{}", form + "/{}.json", form + "({})", form + "/id/{}", form + "/name/{}"]
        let single = PathPattern.form((base.dropLast() + [Words.singular(base[base.count - 1])])[...]) + "/{}"
        for form in forms + [single] {
            let fitting = (calls[form] ?? []).filter { $0.path != list }
            // A GET there is a single read; without one, changes may have the path.
            if let call = fitting.first(where: { $0.method == "GET" }) ?? fitting.first { return call.path }
        }
        return nil
    }

    /// A list below a record often shows some of the records of a list of all.
    private func leaveOutViews(_ found: inout Found) {
        let whole = Dictionary(
            grouping: found.collections.filter { $0.path.parameters.isEmpty }, by: { Words.folded($0.path.lastSegment) }
        )
        found.collections.removeAll { collection in
            guard !collection.path.parameters.isEmpty, collection.recordCalls.isEmpty,
                let other = whole[Words.folded(collection.path.lastSegment)]?.first(where: {
                    Self.hasSameRecords($0, collection)
                })
            else { return false }
            found.leftOut.append(
                LeftOut(
                    path: collection.path.text, why: .sameRecords,
                    reason: "it lists records of \(other.path.text), which has all of them"))
            return true
        }
    }

    private static func hasSameRecords(_ one: Collection, _ other: Collection) -> Bool {
        guard one.key.value == other.key.value else { return false }
        if let name = one.answer.item.name, name == other.answer.item.name { return true }
        return one.answer.item.properties.map(\.name) == other.answer.item.properties.map(\.name)
    }
}
