/// Reads how an entity is pulled and pushed.
struct PlanReader {
    let entity: SchemaNode
    let key: String
    /// The defaults for every entity.
    let list: ListPlan
    let record: Place

    // MARK: Pull

    func pull() throws(SchemaError) -> PullPlan? {
        guard let node = entity.child("pull") else { return nil }
        try node.requireKeys([
            "path", "query", "records", "pagination", "mode", "since", "changed_at", "deleted", "record", "detail",
            "where", "keep",
        ])
        let path = try node.required("path")
        let mode = try mode(node)
        var changedAt = try node.child("changed_at")?.string()
        if changedAt == nil { changedAt = try node.child("since")?.required("field").string() }
        if mode == .newestFirst, changedAt == nil {
            throw try node.required("mode").error("newest_first needs changed_at, the field that the list is sorted by")
        }
        var plan = PullPlan(
            path: try path.urlPath(),
            query: try query(node.child("query")),
            list: try ListReader(node: node, base: list).list(),
            mode: mode,
            changedAt: changedAt,
            deleted: try node.child("deleted")?.string(),
            single: try single(node.child("record"), path))
        if let detail = node.child("detail") {
            let read = try DetailReader(node: detail, base: list).read()
            (plan.details, plan.fetch) = (read.details, read.fetch)
        }
        return plan
    }

    private func mode(_ node: SchemaNode) throws(SchemaError) -> PullPlan.Mode {
        let since = node.child("since")
        let word = try node.child("mode")?.string() ?? (since == nil ? "full" : "since")
        guard word == "since" else {
            if let since { throw since.error("since is only allowed with mode: since; remove one") }
            if word == "full" { return .full }
            if word == "newest_first" { return .newestFirst }
            throw try node.required("mode").error("expected one of the modes since, newest_first or full")
        }
        let node = try node.required("since")
        try node.requireKeys(["param", "value", "format", "field", "overlap"])
        return .since(
            parameter: try SinceReader(node: node).parameter(),
            overlap: try node.child("overlap")?.duration() ?? PullPlan.defaultOverlap)
    }

    private func query(_ node: SchemaNode?) throws(SchemaError) -> [QueryItem] {
        var items: [QueryItem] = []
        for (name, value) in try node?.members() ?? [] {
            let values = value.isSequence ? try value.strings() : [try value.string()]
            items += values.map { QueryItem(name: name, value: $0) }
        }
        return items
    }

    /// Without a path of its own, the single record is at its key below the list's path.
    private func single(_ node: SchemaNode?, _ path: SchemaNode) throws(SchemaError) -> PullPlan.Single {
        try node?.requireKeys(["path", "at"])
        guard let template = Template("\(try path.urlPath())/{\(key)}") else {
            throw path.error("expected a path without braces")
        }
        return PullPlan.Single(
            path: try node?.child("path")?.urlTemplate() ?? template,
            place: try node?.child("at")?.place() ?? record, isPlaceInherited: node?.child("at") == nil)
    }

    // MARK: Push

    func push() throws(SchemaError) -> PushPlan {
        guard let node = entity.child("push") else { return PushPlan(create: [], update: [], delete: []) }
        try node.requireKeys(["create", "update", "delete"])
        return PushPlan(
            create: try routes(node.child("create")), update: try routes(node.child("update")),
            delete: try routes(node.child("delete")))
    }

    private func routes(_ node: SchemaNode?) throws(SchemaError) -> [PushRoute] {
        guard let node else { return [] }
        guard node.isSequence else { return [try route(node)] }
        var routes: [PushRoute] = []
        for element in try node.elements() { routes.append(try route(element)) }
        return routes
    }

    func route(_ node: SchemaNode) throws(SchemaError) -> PushRoute {
        try node.requireKeys(["call", "when", "fields", "body", "encoding", "html", "file", "record", "look_up"])
        let body = node.child("body").map { BodyReader(node: $0) }
        let call = try node.required("call")
        let words = try call.string().split(separator: " ")
        guard words.count == 2, ["POST", "PUT", "PATCH", "DELETE"].contains(words[0]), words[1].hasPrefix("/"),
            let path = Template(String(words[1]))
        else { throw call.error("expected a method and a path, such as PATCH /api/orders/{id}") }
        return PushRoute(
            method: String(words[0]), path: path,
            conditions: try pairs(node.child("when")) ?? [:],
            fields: try node.child("fields")?.strings(),
            body: body?.isTemplate == false ? try body?.names() : nil,
            envelope: body?.isTemplate == true ? try body?.template() : nil,
            sendsRecord: body?.sendsRecord ?? (words[0] == "PUT"),
            encoding: try encoding(node.child("encoding"), String(words[0]), body),
            html: try pairs(node.child("html")) ?? [:],
            file: try node.child("file")?.string(),
            record: try node.child("record")?.place() ?? record, isRecordInherited: node.child("record") == nil,
            lookUp: try lookUp(node.child("look_up")))
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
        try node.requireKeys(["match", "path", "embedded", "records", "pagination"])
        // Without a path of its own, it searches the entity's list, as a pull does.
        let pull = node.child("path") == nil ? entity.child("pull") : nil
        guard let path = node.child("path") ?? pull?.child("path") else {
            throw node.error("expected path, because this entity has no list of its own to search")
        }
        let base = try pull.map { (pull) throws(SchemaError) in try ListReader(node: pull, base: list).list() } ?? list
        var plan = try ListReader(node: node, base: base).list()
        if let embedded = node.child("embedded") {
            plan.style = .single
            plan.records = try embedded.place()
        }
        return .match(
            fields: try node.required("match").strings(), path: try path.urlTemplate(),
            query: try query(pull?.child("query")), list: plan)
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
        return text
    }

    func urlTemplate() throws(SchemaError) -> Template {
        _ = try urlPath()
        return try template()
    }

    /// One path or a list of alternatives.
    func place() throws(SchemaError) -> Place {
        isSequence ? Place(paths: try strings()) : Place(paths: [try string()])
    }
}
