internal import JSONText

/// Reads how an entity is pulled and pushed.
struct PlanReader {
    let entity: SchemaNode
    let key: String
    let lift: Lift?
    let fields: [Field]
    /// The defaults for every entity.
    let list: ListPlan
    let record: Place

    // MARK: Pull

    func pull() throws(SchemaError) -> PullPlan? {
        guard let node = entity.child("pull") else { return nil }
        try node.requireKeys(
            ListCallReader.keys
                + ["mode", "since", "changes", "changed_at", "deleted", "record", "detail", "where", "keep"]
                + ListReader.keys)
        var list = try ListReader(node: node, base: list).list()
        (list.lone, list.lift) = (lone, lift)
        var names = names(of: list, node.child("since"))
        if node.child("where") != nil { names.values.insert("until") }
        var changes = try changes(of: node, list)
        if changes != nil { names = withoutChanges(names) }
        var request = try ListCallReader(node: node, names: names).read()
        let mode = try mode(node, changes.map(\.call) ?? request.call)
        if case .since(let parameter, _) = mode {
            request.call = request.call?.formatting("since", as: parameter.format)
            let changesCall = changes?.call?.formatting("since", as: parameter.format)
            changes?.call = changesCall
        }
        var plan = PullPlan(
            path: request.path, query: request.query, call: request.call, list: list, changes: changes, mode: mode,
            changedAt: try changedAt(node, mode),
            deleted: try deletionMark(),
            single: try single(node.child("record"), request, node.child("call") ?? node))
        try checkChanges(of: plan, node)
        plan.clock = plan.clockOfRequests
        if let detail = node.child("detail") {
            let read = try DetailReader(node: detail, base: self.list).read()
            (plan.details, plan.fetch) = (read.details, read.fetch)
        }
        return plan
    }

    /// The field with the time of a record's last change; nil without one.
    private func changedAt(_ node: SchemaNode, _ mode: PullPlan.Mode) throws(SchemaError) -> String? {
        if let field = try node.child("changed_at")?.string() { return field }
        if let since = node.child("since") {
            let isDelta = SinceReader(node: since).isDelta
            let field = try isDelta ? since.child("field") : since.required("field")
            if let field { return try field.string() }
        }
        guard mode != .newestFirst else {
            throw try node.required("mode").error("newest_first needs changed_at, the field that the list is sorted by")
        }
        return nil
    }

    private var lone: LoneRecord {
        // What is derived is read later.
        let given = fields.filter { entity.child("fields")?.child($0.name)?.child("derive") == nil }
        return LoneRecord(key: key, lift: lift, fields: given)
    }

    /// What a list's templates may name.
    func names(of list: ListPlan, _ since: SchemaNode?) -> TemplateNames {
        var names = TemplateNames(values: ["account"], hasNow: true)
        if let name = list.style.positionName, list.continuation == nil { names.values.insert(name) }
        if list.style.positionName == "offset" { names.values.insert("last") }
        if list.style != .single { names.values.insert("size") }
        if let since { names.values.insert(SinceReader(node: since).name) }
        names.needs = [
            "cursor": list.continuation == nil
                ? "it needs style: cursor in pagination" : "only the first page is asked for so; write it in continue",
            "page": "it needs style: page in pagination",
            "offset": "it needs style: offset in pagination", "last": "it needs style: offset in pagination",
            "size": "style: single has no size of a page",
            "since": "it needs since: { field: … }", "delta": "it needs since: { token: … }", "until": "it needs where",
        ]
        return names
    }

    private func mode(_ node: SchemaNode, _ call: ListCall?) throws(SchemaError) -> PullPlan.Mode {
        let since = node.child("since")
        let word = try node.child("mode")?.string() ?? (since == nil ? "full" : "since")
        guard word == "since" else {
            if let since { throw since.error("since is only allowed with mode: since; remove one") }
            if word == "full" { return .full }
            if word == "newest_first" { return .newestFirst }
            let hint = Suggestion.hint(for: word, among: ["since", "newest_first", "full"])
            throw try node.required("mode").error("expected one of the modes since, newest_first or full\(hint)")
        }
        let reader = SinceReader(node: try node.required("since"))
        return try reader.mode(isInTemplate: call?.names(reader.name) ?? false)
    }

    /// Without a path of its own, the single record is at its key below the list's path. Below a list that is asked for
    /// by POST, or at a path with values, is none; nor with `record: none`.
    private func single(
        _ node: SchemaNode?, _ list: ListCallReader.Result, _ place: SchemaNode
    ) throws(SchemaError) -> PullPlan.Single {
        if let node, !node.isMapping {
            guard try node.string() == "none" else { throw node.error("expected { path, at }, or none") }
            return PullPlan.Single(isServed: false, path: Template(parts: [.text(list.path)]), place: record)
        }
        try node?.requireKeys(["path", "call", "body", "at"])
        guard let template = Template("\(list.path.prefix { $0 != "?" })/{\(key)}") else {
            throw place.error("expected a path without braces")
        }
        var single = PullPlan.Single(
            path: try node?.child("path")?.urlTemplate() ?? template,
            place: try node?.child("at")?.place() ?? record, isPlaceInherited: node?.child("at") == nil)
        if let call = node?.child("call") {
            if let path = node?.child("path") { throw path.error("call has the path already; remove path") }
            (single.method, single.path) = try target(call, ["GET", "POST"])
        } else if node?.child("path") == nil {
            single.isServed = list.call == nil || list.call?.method == "GET" && list.call?.path == nil
            if !single.isServed { single.path = Template(parts: [.text(list.path)]) }
        }
        if let body = node?.child("body") {
            guard single.method == "POST" else { throw body.error("a record with a body is asked for by call: POST …") }
            single.body = try BodyReader(node: body).values()
            if single.body?.namesKey == true {
                throw body.error("{\(Template.key)} belongs to a change, and this reads a record; remove it")
            }
        }
        return single
    }

    /// `POST /api/orders/{id}`.
    private func target(_ node: SchemaNode, _ methods: [String]) throws(SchemaError) -> (String, Template) {
        let words = try node.words()
        guard words.count == 2, methods.contains(words[0]), words[1].hasPrefix("/"), let path = Template(words[1])
        else {
            throw node.error(
                "expected \(methods.joined(separator: " or ")) and a path, such as \(methods[0]) /orders/{id}")
        }
        return (words[0], path)
    }

    // MARK: Push

    func push() throws(SchemaError) -> PushPlan {
        guard let node = entity.child("push") else { return PushPlan(create: [], update: [], delete: []) }
        try node.requireKeys(["create", "update", "delete"])
        return PushPlan(
            create: try routes(node.child("create"), .create), update: try routes(node.child("update"), .update),
            delete: try routes(node.child("delete"), .delete))
    }

    private func routes(_ node: SchemaNode?, _ operation: Operation) throws(SchemaError) -> [PushRoute] {
        guard let node else { return [] }
        guard node.isSequence else { return [try route(node, operation)] }
        var routes: [PushRoute] = []
        for element in try node.elements() { routes.append(try route(element, operation)) }
        return routes
    }

    func route(_ node: SchemaNode, _ operation: Operation = .update) throws(SchemaError) -> PushRoute {
        try node.requireKeys([
            "call", "when", "fields", "body", "encoding", "html", "file", "record", "look_up", "batch",
        ])
        let body = BodyReader.body(of: node, operation)
        let call = try node.required("call")
        let words = try call.words()
        guard words.count == 2, ["POST", "PUT", "PATCH", "DELETE"].contains(words[0]), words[1].hasPrefix("/"),
            let path = Template(words[1])
        else {
            throw call.error(
                "expected a method and a path, such as PATCH /api/orders/{id}; changes go by POST, PUT, PATCH or DELETE"
            )
        }
        return PushRoute(
            method: words[0], path: path,
            conditions: try pairs(node.child("when")) ?? [:],
            fields: try node.child("fields")?.strings(),
            body: try body?.places(),
            envelope: body?.isTemplate == true ? try body?.template() : nil,
            sendsRecord: body?.sendsRecord ?? (words[0] == "PUT"),
            encoding: try encoding(node.child("encoding"), words[0], body),
            html: try pairs(node.child("html")) ?? [:],
            file: try node.child("file")?.string(),
            record: try node.child("record")?.place() ?? record, isRecordInherited: node.child("record") == nil,
            lookUp: try lookUp(node.child("look_up")), shownAmong: try shownAmong(node.child("look_up")),
            batch: try batch(node.child("batch"), operation),
            isSentAlone: node.child("batch")?.value.boolean == false)
    }

    /// `false` keeps the changes of the route out of the upstream's batches.
    private func batch(_ node: SchemaNode?, _ operation: Operation) throws(SchemaError) -> BatchPlan? {
        guard let node, node.value.boolean != false else { return nil }
        let source = lift?.members.first { $0.name == key }?.source
        return try BatchReader(node: node).own(key: key, source, operation)
    }

    private func encoding(
        _ node: SchemaNode?, _ method: String, _ body: BodyReader?
    ) throws(SchemaError) -> BodyEncoding {
        guard let node else { return .plain }
        return try BodyEncodingReader(node: node, method: method, isEnclosed: body?.isTemplate == true).encoding()
    }

    private func lookUp(_ node: SchemaNode?) throws(SchemaError) -> LookUp? {
        guard let node else { return nil }
        guard node.isMapping else {
            guard try node.string() == "key" else { throw node.error("expected key, or { match: [fields] }") }
            return .key
        }
        try node.requireKeys(["match", "among", "path", "embedded"] + ListReader.keys)
        // Without a path of its own, it searches the entity's list, as a pull does.
        let pull = node.child("path") == nil ? entity.child("pull") : nil
        let base = try pull.map { (pull) throws(SchemaError) in try ListReader(node: pull, base: list).list() } ?? list
        var plan = try ListReader(node: node, base: base).list()
        (plan.lone, plan.lift) = (lone, lift)
        if let embedded = node.child("embedded") {
            plan.style = .single
            plan.records = try embedded.place()
        }
        let fields = try node.required("match").strings()
        let path = try node.child("path")?.urlTemplate()
        guard path != nil || pull != nil else {
            throw node.error("expected path, because this entity has no list of its own to search")
        }
        return .match(fields: fields, path: path, list: plan)
    }

    private func shownAmong(_ lookUp: SchemaNode?) throws(SchemaError) -> [String: Place] {
        guard let lookUp, lookUp.isMapping, let node = lookUp.child("among") else { return [:] }
        var places: [String: Place] = [:]
        for (name, place) in try node.members() { places[name] = try place.place() }
        return places
    }

    private func pairs(_ node: SchemaNode?) throws(SchemaError) -> [String: String]? {
        guard let node else { return nil }
        var pairs: [String: String] = [:]
        for (name, value) in try node.members() { pairs[name] = try value.string() }
        return pairs
    }
}

extension SchemaNode {
    func urlPath() throws(SchemaError) -> String {
        let text = try string()
        guard text.hasPrefix("/") else { throw error("expected a path that begins with /") }
        try refuseSpaces(in: text)
        return text
    }

    /// A method and a path, if that is what the text has.
    func words() throws(SchemaError) -> [String] {
        let text = try string()
        let words = text.split(separator: " ", maxSplits: 1).map { String($0.drop { $0 == " " }) }
        if words.count == 2, words[1].hasPrefix("/") { try refuseSpaces(in: words[1]) }
        return words
    }

    /// A path is sent as it is written, except for what stands in braces.
    private func refuseSpaces(in path: String) throws(SchemaError) {
        var depth = 0
        for character in path {
            if character == "{" { depth += 1 } else if character == "}" { depth -= 1 }
            if depth == 0, character == " " { throw error("an address has no spaces; write %20 for each of them") }
        }
    }

    func urlTemplate() throws(SchemaError) -> Template {
        _ = try urlPath()
        return try template()
    }

    /// One path or a list of alternatives.
    func place() throws(SchemaError) -> Place {
        if value.text?.isEmpty == true {
            throw error("expected a place; leave this key out where the record or the list is the answer itself")
        }
        let paths = try texts()
        for path in paths { try checkSteps(of: path) }
        if let path = paths.first(where: { $0.contains("{") && !$0.contains("\"") }) {
            throw error("\(path) is a place in an answer, which takes no values in braces")
        }
        for path in paths where !JSONPath.isValid(path) || JSONPath.steps(path).isEmpty {
            throw error(
                "\(path) is not a place; put quotes around each name with a dot in it, such as '\"@odata.nextLink\"'")
        }
        return Place(paths: paths)
    }

    /// A place between two dots has a name. No answer is as deep as a place may be; what is around a field is kept for each.
    func checkSteps(of path: String) throws(SchemaError) {
        guard path.utf8.count <= 2000, JSONPath.steps(path).count <= 20 else {
            throw error("\(path.prefix(40))… is longer than a place; expected at most 20 names, and 2000 bytes")
        }
        guard !path.contains("\""), path.split(separator: ".", omittingEmptySubsequences: false).contains("") else {
            return
        }
        throw error("\(path) has a dot without a name beside it; remove the dot, or add the name")
    }
}
