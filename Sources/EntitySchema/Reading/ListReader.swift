/// Reads how a list is paged and where the response has its records: `pagination` and `records` of one node, over the
/// defaults.
struct ListReader {
    let node: SchemaNode
    let base: ListPlan?

    func list() throws(SchemaError) -> ListPlan {
        var plan = base ?? ListPlan(style: .single, size: nil, pageSize: 100, total: nil, records: .itself)
        if let pagination = node.child("pagination") { plan = try paged(pagination, plan) }
        if let records = node.child("records") { plan.records = try records.place() }
        return plan
    }

    private func paged(_ node: SchemaNode, _ plan: ListPlan) throws(SchemaError) -> ListPlan {
        var plan = plan
        plan.style = try style(node)
        plan.size = plan.style == .single ? nil : try node.child("size")?.string() ?? "limit"
        plan.pageSize = try node.child("page_size")?.integer(in: 1...10_000) ?? plan.pageSize
        plan.total = try node.child("total")?.place() ?? plan.total
        return plan
    }

    private func style(_ node: SchemaNode) throws(SchemaError) -> ListPlan.Style {
        func keys(_ names: [String]) throws(SchemaError) {
            try node.requireKeys(["style", "size", "page_size", "total"] + names)
        }
        let style = try node.required("style")
        switch try style.string() {
        case "page":
            try keys(["page", "pages"])
            return .page(
                parameter: try node.child("page")?.string() ?? "page", pages: try node.child("pages")?.place())
        case "offset":
            try keys(["offset"])
            return .offset(parameter: try node.child("offset")?.string() ?? "offset")
        case "cursor":
            try keys(["cursor", "next"])
            return .cursor(
                parameter: try node.child("cursor")?.string() ?? "cursor", next: try node.required("next").place())
        case "link":
            try keys([])
            return .link
        case "header":
            try keys(["header", "page"])
            return .header(
                name: try node.required("header").string(), parameter: try node.child("page")?.string() ?? "page")
        case "next_url":
            try keys(["next"])
            return .nextURL(try node.required("next").place())
        case "single":
            try node.requireKeys(["style", "total"])
            return .single
        default:
            throw style.error(
                "expected one of the paging styles: page, offset, cursor, link, header, next_url, single")
        }
    }
}
