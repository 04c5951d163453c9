/// Turns the YAML of a schema file into values: the top and the upstream's part; entities have a reader of their own.
struct SchemaReader {
    let root: SchemaNode

    func schema() throws(SchemaError) -> EntitySchema {
        try root.requireKeys(["schema", "title", "upstream", "entities"])
        let nameNode = try root.required("schema")
        let name = try nameNode.string()
        guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }) else {
            throw nameNode.error("\(name) cannot be a schema's name; expected letters, digits, - or _")
        }
        var entities: [Entity] = []
        for (name, node) in try root.required("entities").members() {
            entities.append(try EntityReader(node: node, name: name).entity())
        }
        guard !entities.isEmpty else { throw try root.required("entities").error("expected at least one entity") }
        let schema = EntitySchema(
            name: name, title: try root.child("title")?.string() ?? name,
            upstream: try upstream(root.required("upstream")), entities: entities)
        try SchemaCheck(schema: schema, root: root).run()
        return schema
    }

    private func upstream(_ node: SchemaNode) throws(SchemaError) -> UpstreamPlan {
        try node.requireKeys([
            "base_url", "account", "probe", "error_message", "pagination", "records", "idempotency_header",
        ])
        let base = try node.required("base_url")
        let url = try base.string()
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw base.error("expected an address that begins with https:// (or http://)")
        }
        return UpstreamPlan(
            baseURL: url.hasSuffix("/") ? String(url.dropLast()) : url,
            account: try account(node.child("account")),
            probe: try node.child("probe")?.urlPath() ?? "/",
            errorMessage: try node.child("error_message")?.string(),
            pagination: try pagination(node.required("pagination")),
            records: try node.child("records")?.string() ?? "",
            idempotencyHeader: try node.child("idempotency_header")?.string())
    }

    private func account(_ node: SchemaNode?) throws(SchemaError) -> UpstreamPlan.Account? {
        guard let node else { return nil }
        try node.requireKeys(["path", "id"])
        return UpstreamPlan.Account(
            path: try node.required("path").urlPath(), id: try node.required("id").string())
    }

    private func pagination(_ node: SchemaNode) throws(SchemaError) -> UpstreamPlan.Pagination {
        try node.requireKeys(["style", "page", "size", "page_size", "total", "pages"])
        let style = try node.required("style")
        guard try style.string() == "page" else { throw style.error("expected the paging style page") }
        return UpstreamPlan.Pagination(
            page: try node.child("page")?.string() ?? "page",
            size: try node.child("size")?.string() ?? "limit",
            pageSize: try node.child("page_size")?.integer(in: 1...10_000) ?? 100,
            total: try node.child("total")?.string(),
            pages: try node.child("pages")?.string())
    }
}
