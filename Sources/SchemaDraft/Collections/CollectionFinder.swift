/// Finds the collections of a document: its lists, each with the calls for one record.
struct CollectionFinder {
    let document: OpenAPIDocument
    /// Those of the document, with lists marked that only find the records of the path before them.
    private let operations: [APIOperation]
    /// The calls by the form of their path.
    private let calls: [String: [APIOperation]]
    /// What the paths name, in the singular and folded.
    private let others: Set<String>
    private let records: RecordPathFinder
    /// What identifies a record only together, by the form of the list's path: `/lines(order={order},rank={rank})`.
    private let together: [String: [String]]

    /// More lists than these are left out.
    private static let most = 1000

    init(document: OpenAPIDocument) {
        self.document = document
        operations = FindingLists(document).operations()
        calls = Dictionary(grouping: operations) { $0.path.form }
        others = Set(
            document.operations.flatMap(\.path.segments).filter { !$0.contains("{") }.map {
                Words.folded(Words.singular($0))
            })
        records = RecordPathFinder(document, calls)
        together = document.operations.reduce(into: [:]) { together, operation in
            let last = operation.path.lastSegment
            let names = PathPattern.parameters(last)
            guard names.count > 1, last.hasSuffix(")"), let open = last.firstIndex(of: "(") else { return }
            together[PathPattern.form(operation.path.segments.dropLast() + [String(last[..<open])])] = names
        }
    }

    struct Found {
        var collections: [Collection] = []
        var leftOut: [LeftOut] = []
        /// Why records of a kind are left out that only several members together identify.
        var inParts: [String: String] = [:]
    }

    func find() -> Found {
        var found = Found()
        let chosen = ChosenLists(shapes: document.shapes, calls: calls)
        for operation in operations where operation.method == "GET" && found.collections.count < Self.most {
            guard PathPattern.parameters(operation.path.lastSegment).isEmpty || chosen.isList(operation) else {
                continue
            }
            look(at: operation, operation.answer ?? DataShape(), &found)
        }
        leaveParts(&found)
        NestedKeys(shapes: document.shapes).settle(&found)
        found.leftOut += chosen.missing(operations, beside: found)
        let same = WholeLists(shapes: document.shapes).join(&found.collections)
        found.collections.removeAll { same[$0.path.text] != nil }
        let views = Views(found.collections, document.shapes).found()
        found.collections.removeAll { views[$0.path.text] != nil }
        found.leftOut += views.merging(same) { first, _ in first }.sorted { $0.key < $1.key }.map {
            LeftOut(path: $0.key, why: .sameRecords, reason: $0.value)
        }
        for index in found.collections.indices where found.collections[index].creationsBelow.isEmpty {
            found.collections[index].creationsBelow = creationsBelow(found.collections[index], among: found.collections)
        }
        EntityNames().name(&found.collections)
        return found
    }

    /// Adds the list that a GET answers, or why its answer is left out.
    private func look(at operation: APIOperation, _ answer: DataShape, _ all: inout Found) {
        func leaveOut(_ why: LeftOut.Why, _ reason: String) {
            all.leftOut.append(LeftOut(path: operation.path.text, why: why, reason: reason))
        }
        if operation.answer != nil, let verb = operation.verb(among: ["create", "generate", "send"]) {
            return leaveOut(.noList, "it is described as a call to \(verb) something")
        }
        let found = ListFinder(shapes: document.shapes).find(in: answer, of: operation.path)
        let unsaid = UndescribedLists(shapes: document.shapes, calls: calls)
        let list: ListAnswer
        switch unsaid.list(found, answer, at: operation.path).map(ListFinder.Finding.list) ?? found {
        case .nothing:
            return unsaid.reason(operation).map { leaveOut(.unsaid, $0) } ?? ()
        case .other(let reason): return leaveOut(.noList, reason)
        case .list where Self.signsIn(operation.path): return leaveOut(.noList, "it is about signing in")
        case .list(let answered): list = answered
        }
        if isCount(operation.path) { return leaveOut(.noList, "it only counts the records of another list") }
        let partial = PartialList(operation, item: list.item, shapes: document.shapes)
        if !document.isObserved, let reason = partial.reason() { return leaveOut(.sameRecords, reason) }
        add(operation, list, to: &all)
    }

    /// Ends of paths that begin or end a session.
    private static let signIns: Set = ["login", "signin", "logout", "signout", "refreshtoken"]

    static func signsIn(_ path: PathPattern) -> Bool {
        let names = path.segments.suffix(2).map(Words.folded)
        return names.last.map(signIns.contains) == true || names == ["auth", "refresh"]
    }

    /// `/orders/count` beside `/orders`.
    private func isCount(_ path: PathPattern) -> Bool {
        let base = Collection.base(of: path)
        guard base.count > 1, Words.folded(base[base.count - 1]) == "count" else { return false }
        let form = PathPattern.form(base.dropLast())
        return calls[form]?.contains { $0.method == "GET" } == true
    }

    /// The lines of a product are of the kind of all lines, which have no key of their own.
    private func leaveParts(_ found: inout Found) {
        for index in found.collections.indices.reversed() where found.collections[index].recordPath == nil {
            let own = found.collections[index]
            guard let reason = own.answer.item.name.flatMap({ found.inParts[$0] }) else { continue }
            found.collections.remove(at: index)
            found.leftOut.append(LeftOut(path: own.path.text, why: .noKey, reason: reason))
        }
    }

    private func add(_ operation: APIOperation, _ answer: ListAnswer, to found: inout Found) {
        let own = records.path(of: operation.path, answer.item)
        let base = Collection.base(of: operation.path)
        let actions = ActionCalls(calls: calls).record(base: base, hasPath: own != nil)
        let path = own ?? actions?.path
        let marked = RowFilters.primaryKey(of: answer.item, document.shapes)
        if path == nil, let names = keyParts(base, answer.item) ?? (marked.count > 1 ? marked : nil) {
            let all = names.joined(separator: ", ")
            let reason = "only \(all) together identify its records: write key: { field: id, from: [\(all)] }"
            if let kind = answer.item.name { found.inParts[kind] = reason }
            return found.leftOut.append(LeftOut(path: operation.path.text, why: .noKey, reason: reason))
        }
        let parameter = path.flatMap { recordName($0, operation.path, answer.item) }
        let guess = KeyGuess(shapes: document.shapes, others: others, isObserved: document.isObserved)
        var key = guess.key(of: answer.item, at: operation.path, record: parameter)
        let isClear = key.flatMap { parameter?.member(key: $0.value) } != nil
        if !isClear {
            key = guess.key(of: answer.item, at: operation.path, record: nil, hasOther: parameter != nil)
        }
        let isCertain = key.map { KeyGuess.isCertain($0.value) } ?? false
        if !isClear, !isCertain, let linked = linked(operation, answer, own) {
            return found.collections.append(linked)
        }
        guard let key else {
            found.leftOut.append(
                LeftOut(path: operation.path.text, why: .noKey, reason: guess.missing(answer.item)))
            return
        }
        var collection = Collection(list: operation, answer: answer, key: key)
        if let path, parameter != nil, isClear {
            setRecord(path, actions?.calls ?? [:], of: &collection)
        } else if let path, let parameter {
            collection.hasUnclearRecord = true
            collection.todos.append(
                "pull.record and push: { path: \"\(path.text)\" }, with the field that {\(parameter.name)} is")
        }
        collection.creation = creation(operation, base: collection.base)
        if RowFilters.has(operation) { collection.creation?.answer = operation.answer }
        collection.keyed = KeyedCalls(calls: calls, shapes: document.shapes).found(for: collection)
        found.collections.append(collection)
    }

    /// `actions`: calls for one record whose paths say what they do, by the methods that are usual for it.
    private func setRecord(_ path: PathPattern, _ actions: [String: APIOperation], of collection: inout Collection) {
        collection.recordPath = path
        for call in calls[path.form] ?? [] where call.path == path { collection.recordCalls[call.method] = call }
        let others = (calls[path.form] ?? []).map { ($0.method, $0) } + actions.map { ($0.key, $0.value) }
        for (method, call) in others
        where collection.recordCalls[method] == nil && isSame(call.path, path, collection) {
            collection.recordCalls[method] = call
        }
    }

    /// Whether a path names a record as another one does, or by its key under another name: `/orders/{orderId}` beside
    /// `/orders/{id}`.
    private func isSame(_ path: PathPattern, _ other: PathPattern, _ collection: Collection) -> Bool {
        if path.parameters == other.parameters { return true }
        return path.parameters.dropLast() == other.parameters.dropLast()
            && recordName(path, collection.path, collection.answer.item)?.direct == collection.key.value
    }

    /// A list whose records have their key at the end of a text, if each of them can be read by it.
    private func linked(_ list: APIOperation, _ answer: ListAnswer, _ record: PathPattern?) -> Collection? {
        let linked = LinkedKey(shapes: document.shapes, list: list.path, item: answer.item)
        let own = (record.map { calls[$0.form] ?? [] } ?? []).filter { $0.path == record }
        guard let place = linked.place, own.contains(where: { $0.method == "GET" }) else { return nil }
        var answer = answer
        answer.item = linked.keyed
        var collection = Collection(
            list: list, answer: answer, key: Guess(LinkedKey.field, "the last part of \(place)"))
        collection.keyLink = place
        collection.recordPath = record
        for call in own { collection.recordCalls[call.method] = LinkedKey.without(place, call) }
        collection.creation = creation(list, base: collection.base).map { LinkedKey.without(place, $0) }
        return collection
    }

    /// A call to the list that creates one record; a POST before a PUT, unless it is described as something else.
    private func creation(_ list: APIOperation, base: [String]) -> APIOperation? {
        let found = [list.path.form, PathPattern.form(base)].flatMap { form in
            (calls[form] ?? []).filter { $0.path.parameters == list.path.parameters }
        }
        let posts = found.filter { $0.method == "POST" }
        return posts.first { $0.otherDeed == nil }
            ?? ActionCalls(calls: calls).creation(list.path, base: base)
            ?? found.first { $0.method == "PUT" && $0.createsOne } ?? posts.first
    }

    /// `POST /projects/{id}/tasks` for the list `/tasks`, beside the list `/projects`.
    private func creationsBelow(_ collection: Collection, among others: [Collection]) -> [CreationBelow] {
        let base = collection.base
        guard collection.path.parameters.isEmpty, collection.creation == nil, let last = base.last,
            collection.recordCalls["PUT"]?.isCreation != true
        else { return [] }
        let drafted = Set(others.compactMap(\.creation?.path))
        let record = RecordMatch(item: collection.answer.item, shapes: document.shapes)
        let parents = others.filter { other in
            other.path.parameters.isEmpty && other.base.dropLast() == base.dropLast() && other.path != collection.path
        }
        return parents.compactMap { parent in
            let form = "\(parent.baseForm)/{}\(PathPattern.form([last]))"
            let found = ((calls[form] ?? []) + (calls[form + ".json"] ?? [])).filter {
                !drafted.contains($0.path) && record.isOne($0.answer)
            }
            let call = found.first { $0.method == "POST" } ?? found.first(where: \.createsOne)
            return call.map { CreationBelow(call: $0, parent: parent.path) }
        }
    }

    // MARK: Records

    /// The members that the path of a record names together, if it names several.
    private func keyParts(_ base: [String], _ item: DataShape) -> [String]? {
        guard let names = together[PathPattern.form(base)] else { return nil }
        let members = names.compactMap { name in
            item.properties.first { Words.folded($0.name) == Words.folded(name) }?.name
        }
        return members.count == names.count ? members : nil
    }

    /// The last parameter in the path of a record.
    private func recordName(_ path: PathPattern, _ list: PathPattern, _ item: DataShape) -> PathParameter? {
        guard let name = path.parameters.last else { return nil }
        let all = (calls[path.form] ?? []).filter { $0.path == path }.flatMap(\.parameters)
        return PathParameter(
            name: name, said: PathParameter.said(name, in: all), list: list, item: item, shapes: document.shapes)
    }
}
