/// Reads how a list is paged and where the response has its records: `pagination`, `records` and `empty` of one node, over
/// the defaults.
struct ListReader {
    /// The keys that it reads.
    static let keys = ["records", "empty", "pagination"]

    let node: SchemaNode
    let base: ListPlan?

    func list() throws(SchemaError) -> ListPlan {
        var plan = base ?? ListPlan(style: .single, size: nil, pageSize: 100, total: nil, records: .itself)
        if let pagination = node.child("pagination") { plan = try paged(pagination, plan) }
        if let records = node.child("records") { plan.records = try records.place() }
        if let empty = node.child("empty") { plan.empty = try self.empty(empty) }
        return plan
    }

    private func paged(_ node: SchemaNode, _ plan: ListPlan) throws(SchemaError) -> ListPlan {
        guard node.isMapping else { throw node.error("expected a mapping, such as { style: page, page: page }") }
        var plan = plan
        plan.style = try style(node)
        plan.size = plan.style == .single ? nil : try size(node.child("size"))
        plan.pageSize = try node.child("page_size")?.integer(in: 1...10_000) ?? plan.pageSize
        if let total = node.child("total") { (plan.total, plan.totalHeader) = try self.total(total) }
        let first = try node.child("first")?.integer(in: 0...1)
        (plan.first, plan.firstOffset) = (first ?? 1, first ?? 0)
        (plan.more, plan.moreIs) = try more(node.child("more"))
        plan.continuation = try continuation(node)
        plan.isScroll = try node.flag("scroll")
        return plan
    }

    /// A place, or `{}` for an answer that has nothing at all.
    private func empty(_ node: SchemaNode) throws(SchemaError) -> Place {
        guard node.isMapping else { return try node.place() }
        try node.requireKeys([])
        return .itself
    }

    /// A place, or `{ header: X-Total-Count }`.
    private func total(_ node: SchemaNode) throws(SchemaError) -> (place: Place?, header: String?) {
        guard node.isMapping else { return (try node.place(), nil) }
        try node.requireKeys(["header"])
        return (nil, try node.required("header").headerName())
    }

    /// A place that says true, or how many records are left, while there are more pages; or `{ at: …, is: false }`.
    private func more(_ node: SchemaNode?) throws(SchemaError) -> (place: Place?, value: Bool) {
        guard let node else { return (nil, true) }
        guard node.isMapping else { return (try node.place(), true) }
        try node.requireKeys(["at", "is"])
        return (try node.required("at").place(), try node.required("is").boolean())
    }

    /// `none` sends none.
    private func size(_ node: SchemaNode?) throws(SchemaError) -> String? {
        guard let node else { return "limit" }
        let name = try node.string()
        return name == "none" ? nil : name
    }

    private func style(_ node: SchemaNode) throws(SchemaError) -> ListPlan.Style {
        func keys(_ names: [String]) throws(SchemaError) {
            try node.requireKeys(["style", "size", "page_size", "total"] + names)
        }
        let style = try node.required("style")
        let word = try style.string()
        switch word {
        case "page":
            try keys(["page", "pages", "first", "more"])
            return .page(
                parameter: try node.child("page")?.string() ?? "page", pages: try node.child("pages")?.place())
        case "offset":
            try keys(["offset", "first", "more"])
            return .offset(parameter: try node.child("offset")?.string() ?? "offset")
        case "cursor":
            try keys(["cursor", "next", "more", "continue", "scroll"])
            return try cursor(node)
        case "link":
            try keys([])
            return .link
        case "header":
            try keys(["header", "page", "url"])
            return try header(node)
        case "next_url":
            try keys(["next"])
            return .nextURL(try node.required("next").place())
        case "single":
            try node.requireKeys(["style", "total"])
            return .single
        default:
            let known = ["page", "offset", "cursor", "link", "header", "next_url", "single"]
            throw style.error(
                "expected one of the paging styles: \(known.joined(separator: ", "))"
                    + Suggestion.hint(for: word, among: known))
        }
    }

    private func cursor(_ node: SchemaNode) throws(SchemaError) -> ListPlan.Style {
        let parameter = try node.child("cursor")?.string() ?? "cursor"
        let next = try node.required("next")
        guard next.isMapping else { return .cursor(parameter: parameter, next: try next.place()) }
        try next.requireKeys(["last"])
        if let scroll = node.child("scroll") {
            throw scroll.error("the last record names another page each time, so this is no scroll; remove scroll")
        }
        return .lastRecord(parameter: parameter, place: try next.required("last").place())
    }

    /// Another call for each page after the first: it has all that it sends in its path, query, headers and body.
    private func continuation(_ pagination: SchemaNode) throws(SchemaError) -> ListContinuation? {
        guard let node = pagination.child("continue") else { return nil }
        guard node.isMapping else {
            throw node.error(#"expected a call, such as { call: POST /orders/next, body: { cursor: "{$cursor}" } }"#)
        }
        try node.requireKeys(ListCallReader.keys)
        if let parameter = pagination.child("cursor") {
            throw parameter.error("continue has the cursor where {$cursor} stands; remove cursor")
        }
        var names = TemplateNames(values: ["cursor", "size"])
        for name in ["since", "delta", "until", "account"] {
            names.needs[name] = "the cursor stands for what the first call asked for"
        }
        let request = try ListCallReader(node: node, names: names, mayLack: []).read()
        guard let call = request.call, call.names("cursor") else {
            throw node.error("each page would be the same one; write {$cursor} in body, query, headers or the path")
        }
        return ListContinuation(path: request.path, query: request.query, call: call)
    }

    private func header(_ node: SchemaNode) throws(SchemaError) -> ListPlan.Style {
        let name = try node.required("header").string()
        let page = node.child("page")
        guard try node.flag("url") else {
            return .header(name: name, parameter: try page?.string() ?? "page")
        }
        if let page { throw page.error("the header has the whole address; remove page, or url") }
        return .headerURL(name: name)
    }
}
