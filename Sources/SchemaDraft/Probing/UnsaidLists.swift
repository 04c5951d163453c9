/// A list whose records a document does not describe, and how to ask the API itself for them.
package struct UnsaidList: Sendable {
    /// The list whose records the name in braces of a path names: `/shops` for `/shops/{id}/lamps`.
    package struct Above: Sendable {
        package let path: String
        package let query: String
    }

    /// As the document has it.
    package let path: PathPattern
    /// `?api-version=1`, with what the list needs; nil if the document has no value for something of that.
    package let query: String?
    package let above: Above?
    /// The path of one record, if the document does not say what a GET there answers.
    package let record: PathPattern?

    /// Members that may be the key, those that are called like the name in a path first.
    package static func ordered(_ keys: [String], for path: PathPattern) -> [String] {
        let name = Words.folded(path.parameters.last ?? "")
        return keys.filter { Words.folded($0) == name } + keys.filter { Words.folded($0) != name }
    }
}

/// Finds the lists that a document only names: their answers have to be seen.
package struct UnsaidLists {
    private let document: OpenAPIDocument
    /// The calls by the form of their path.
    private let calls: [String: [APIOperation]]
    private let harmless: HarmlessCalls

    package init(_ document: OpenAPIDocument) {
        self.document = document
        calls = Dictionary(grouping: document.operations) { $0.path.form }
        harmless = HarmlessCalls(document.operations)
    }

    /// Those below a record of another list come last. `names`: only lists that may get such a name in a draft, and the lists
    /// above them; all if empty.
    package func found(names: [String] = []) -> [UnsaidList] {
        let calls = document.operations.filter { operation in
            operation.method == "GET" && PathPattern.parameters(operation.path.lastSegment).isEmpty
                && isUnsaid(operation) && isList(operation) && harmless.onlyReads(operation)
        }
        let lists = calls.map { call in
            UnsaidList(
                path: call.path, query: Self.query(of: call), above: above(call.path), record: record(of: call.path))
        }
        let wanted = lists.filter { list in
            names.isEmpty || EntityNames.candidates(list.path).contains(where: names.contains)
        }
        let needed = Set(wanted.flatMap { [$0.path.text] + [$0.above?.path].compactMap(\.self) })
        let whole = lists.filter { $0.path.parameters.isEmpty && needed.contains($0.path.text) }
        return whole + wanted.filter { $0.above != nil }
    }

    /// Nil without a name in braces, and for a path with several.
    private func above(_ path: PathPattern) -> UnsaidList.Above? {
        guard path.parameters.count == 1, let place = path.segments.firstIndex(where: { $0.contains("{") }) else {
            return nil
        }
        let lists = calls[PathPattern.form(path.segments[..<place])] ?? []
        guard
            let list = lists.first(where: {
                $0.method == "GET" && $0.path.parameters.isEmpty && harmless.onlyReads($0)
            })
        else { return nil }
        return Self.query(of: list).map { UnsaidList.Above(path: list.path.text, query: $0) }
    }

    private func isUnsaid(_ operation: APIOperation) -> Bool {
        let answer = operation.answer ?? DataShape()
        let found = ListFinder(shapes: document.shapes).find(in: answer, of: operation.path)
        let byOne = UndescribedLists(shapes: document.shapes, calls: calls).list(found, answer, at: operation.path)
        guard byOne == nil else { return false }
        switch found {
        case .nothing: return document.shapes.isOpen(answer)
        case .list(let list): return list.item.properties.isEmpty && !list.item.isMap
        case .other: return false
        }
    }

    /// Whether calls for one record, a creation, or the name of a path, perhaps with its title, say that it is a list.
    private func isList(_ operation: APIOperation) -> Bool {
        let base = Collection.base(of: operation.path)
        let own = (calls[PathPattern.form(base)] ?? []) + (calls[operation.path.form] ?? [])
        let actions = ActionCalls(calls: calls)
        if calls[PathPattern.form(base) + "/{}"] != nil || own.contains(where: { $0.method == "POST" })
            || actions.record(base: base, hasPath: false) != nil
            || actions.creation(operation.path, base: base) != nil
        {
            return true
        }
        let words = Words.parts(of: base.last ?? "")
        guard let first = words.first, let last = words.last, Words.singular(last) != last else { return false }
        return words.count == 1 || FindingLists.verbs.contains(first)
            || operation.verb(among: FindingLists.verbs) != nil
    }

    // MARK: What to ask

    /// The path of one record whose GET says nothing either.
    private func record(of list: PathPattern) -> PathPattern? {
        let base = Collection.base(of: list)
        let singular = base.dropLast() + [Words.singular(base.last ?? "")]
        let forms = [PathPattern.form(base) + "/{}", PathPattern.form(singular) + "/{}"]
        let single = forms.lazy.flatMap { calls[$0] ?? [] }.first { $0.method == "GET" }
        let call = single ?? ActionCalls(calls: calls).record(base: base, hasPath: false)?.calls["GET"]
        guard let call, call.path.parameters.count == 1, document.shapes.isOpen(call.answer ?? DataShape()),
            FixedParameter.query(of: call) == "", harmless.onlyReads(call)
        else { return nil }
        return call.path
    }

    /// The first page, with what the list needs.
    private static func query(of list: APIOperation) -> String? {
        let first = list.queries.filter { $0.isRequired && FixedParameter.isPlain($0.name) }.compactMap { parameter in
            firstPage(parameter).map { (name: parameter.name, value: $0) }
        }
        var other = list
        other.parameters.removeAll { parameter in first.contains { $0.name == parameter.name } }
        guard let query = FixedParameter.query(of: other) else { return nil }
        let sent = first.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        guard !sent.isEmpty else { return query }
        return query.isEmpty ? "?\(sent)" : "\(query)&\(sent)"
    }

    /// What a parameter that says which records a page has is sent for the first page.
    private static func firstPage(_ parameter: APIOperation.Parameter) -> String? {
        let name = PagingGuess.folded(parameter.name)
        guard parameter.shape.preset == nil else { return nil }
        if ParameterNames.sizes.contains(name) { return "\(max(min(parameter.shape.maximum ?? 20, 20), 1))" }
        if ParameterNames.pages.contains(name) { return parameter.shape.minimum == 0 ? "0" : "1" }
        return ParameterNames.offsets.contains(name) ? "\(parameter.shape.minimum ?? 0)" : nil
    }
}
