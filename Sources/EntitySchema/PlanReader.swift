/// Reads how an entity is pulled and pushed.
struct PlanReader {
    let entity: SchemaNode

    func pull() throws(SchemaError) -> PullPlan? {
        guard let node = entity.child("pull") else { return nil }
        try node.requireKeys(["path", "since", "deleted", "detail"])
        return PullPlan(
            path: try node.required("path").urlPath(),
            since: try since(node.child("since")),
            deleted: try node.child("deleted")?.string(),
            detail: try detail(node.child("detail")))
    }

    private func since(_ node: SchemaNode?) throws(SchemaError) -> PullPlan.Since? {
        guard let node else { return nil }
        try node.requireKeys(["param", "field", "overlap"])
        return PullPlan.Since(
            parameter: try node.required("param").string(), field: try node.required("field").string(),
            overlap: try node.child("overlap")?.duration() ?? .seconds(300))
    }

    private func detail(_ node: SchemaNode?) throws(SchemaError) -> PullPlan.Detail? {
        guard let node else { return nil }
        try node.requireKeys(["path", "into", "when_changed"])
        return PullPlan.Detail(
            path: try node.required("path").urlTemplate(), entity: try node.required("into").string(),
            whenChanged: try node.required("when_changed").string())
    }

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

    private func route(_ node: SchemaNode) throws(SchemaError) -> PushRoute {
        try node.requireKeys(["call", "when", "fields", "body"])
        let call = try node.required("call")
        let words = try call.string().split(separator: " ")
        guard words.count == 2, ["POST", "PUT", "PATCH", "DELETE"].contains(words[0]), words[1].hasPrefix("/"),
            let path = Template(String(words[1]))
        else { throw call.error("expected a method and a path, such as PATCH /api/orders/{id}") }
        return PushRoute(
            method: String(words[0]), path: path,
            conditions: try pairs(node.child("when")) ?? [:],
            fields: try node.child("fields")?.strings(),
            body: try pairs(node.child("body")))
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

    fileprivate func urlTemplate() throws(SchemaError) -> Template {
        _ = try urlPath()
        return try template()
    }
}
