internal import EntitySchema
internal import JSONText

/// Where a page of a list is asked for, and where the next one stands.
struct PageAddress {
    private let request: PageRequest

    init(_ request: PageRequest) {
        self.request = request
    }

    /// Path and query.
    var path: String {
        var items = request.query
        if let since = request.since { items.append(since) }
        if let size = request.list.size { items.append(QueryItem(name: size, value: "\(request.list.pageSize)")) }
        if case .page(let parameter, _) = request.list.style {
            items.insert(QueryItem(name: parameter, value: "\(number)"), at: 0)
        }
        let query = items.map { "\(Entity.percentEncoded($0.name))=\(Entity.percentEncoded($0.value))" }
        return query.isEmpty ? request.path : "\(request.path)?\(query.joined(separator: "&"))"
    }

    /// The position of the next page; nil when this was the last.
    func next(
        after response: HTTPResponse, _ body: JSONText, count: Int, total: Int?
    ) throws(UpstreamError) -> String? {
        // An empty page is the end whatever the counts say, or a list that shrinks would be read for ever.
        guard count > 0 else { return nil }
        guard case .page(_, let place) = request.list.style else { return nil }
        let isLast: Bool
        if let pages = place?.value(in: body)?.integer {
            isLast = number >= pages
        } else if let total {
            isLast = number * request.list.pageSize >= total
        } else {
            isLast = count < request.list.pageSize
        }
        return isLast ? nil : "\(number + 1)"
    }

    private var number: Int { request.position.flatMap { Int($0) } ?? 1 }
}
