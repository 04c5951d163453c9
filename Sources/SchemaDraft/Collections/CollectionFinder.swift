/// Finds the collections of a document: its lists, each with the calls for one record.
struct CollectionFinder {
    let document: OpenAPIDocument
    /// Those of the document, with lists marked that only find the records of the path before them.
    private let operations: [APIOperation]
    /// The calls by the form of their path.
    private let calls: [String: [APIOperation]]
    /// What the paths name, in the singular and folded.
    private let others: Set<String>
    /// The forms of the paths of GETs that end with a name right below a record, by that name.
    private let below: [String: Set<String>]
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
        below = document.operations.reduce(into: [:]) { below, operation in
            let names = PathPattern.withoutJSON(operation.path.segments)
            guard operation.method == "GET", names.count > 1, names[names.count - 2].contains("{") else { return }
            below[names[names.count - 1], default: []].insert(PathPattern.form(names))
        }
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
        alignKeys(of: &found.collections)
        keepOwnKeys(of: &found.collections)
        leaveCounters(&found)
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

    /// Records in a list below another record get the key of the list of all such records, unless their own is certain.
    private func alignKeys(of collections: inout [Collection]) {
        let whole = collections.filter { $0.path.parameters.isEmpty }
        for index in collections.indices {
            let own = collections[index]
            guard !own.path.parameters.isEmpty, own.recordPath == nil, !KeyGuess.isCertain(own.key.value) else {
                continue
            }
            let other = whole.first { other in
                other.base.last == own.base.last && own.answer.item[other.key.value] != nil
            }
            guard let other, other.key.value != own.key.value else { continue }
            collections[index].key = Guess(other.key.value, "as in \(other.path.text)")
        }
    }

    /// `{location_id}` in the path of an item's stock names the location, which other items have too. The stock's own `id` is
    /// its key.
    private func keepOwnKeys(of collections: inout [Collection]) {
        let whole = collections.filter { $0.path.parameters.isEmpty }
        let others = Set(whole.flatMap { PathParameter.stems(of: $0.path, last: 1) }.map(Words.folded))
        for index in collections.indices where !collections[index].path.parameters.isEmpty {
            let own = collections[index]
            let words = Words.parts(of: own.key.value)
            let stem = Words.folded(words.dropLast().joined())
            guard PathParameter.ends(own.key.value), others.contains(stem),
                !PathParameter.stems(of: own.path, last: 1).map(Words.folded).contains(stem),
                let id = own.answer.item.properties.first(where: { Words.folded($0.name) == "id" }),
                document.shapes.shape(of: id).isTextOrNumber
            else { continue }
            collections[index].key = Guess(id.name, "its name")
        }
    }

    /// `{issue_number}` in the path of a project's issue is its number, which mostly begins at 1 in each project. The issue's
    /// own `id` is its key; without one, the issues of two projects could not be told apart, unless `/issues/{number}` does. So
    /// for a name, such as that of a label; without an `id`, its key is also that of the project, see `KeyBelow`.
    private func leaveCounters(_ found: inout Found) {
        let parents = Parents(found.collections)
        for index in found.collections.indices.reversed() where parents.isBelow(found.collections[index]) {
            let own = found.collections[index]
            guard let counter = own.answer.item[own.key.value] else { continue }
            let isCounter =
                document.shapes.shape(of: counter).kind == .integer && !KeyGuess.isCertain(own.key.value)
            let isName = KeyGuess.mayRepeat(own.key.value) && own.recordPath?.parameters.count != 1
            guard isCounter || isName else { continue }
            let id = own.answer.item.properties.first { Words.folded($0.name) == "id" }
            if let id, document.shapes.shape(of: id).isTextOrNumber {
                found.collections[index].key = Guess(
                    id.name, "its name; \(counter.name) may repeat below another record")
            } else if isCounter, !PathParameter.ends(counter.name), own.recordPath?.parameters.count != 1 {
                found.collections.remove(at: index)
                let reason = "\(counter.name) may repeat below another record, and nothing else identifies its records"
                found.leftOut.append(LeftOut(path: own.path.text, why: .noKey, reason: reason))
            }
        }
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
        let own = recordPath(of: operation.path, answer.item)
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

    /// `/orders/{id}` of `/orders`; also `/orders({id})`, `/orders('{id}')`, `/order/{id}` and, for `/device/all`,
    /// `/device/id/{id}`.
    private func recordPath(of list: PathPattern, _ item: DataShape) -> PathPattern? {
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
        let record = RecordMatch(item: item, shapes: document.shapes)
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
            case .list(let list) = ListFinder(shapes: document.shapes).find(in: answer, of: only.path)
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
