/// One page of a list, by the list's paging style.
///
/// What a position is depends on the style: `page` or `page/records before it`, a number of records, a cursor, a
/// header's value, or a path with its query. One that does not fit the style, as after a change of the schema, is the
/// first page.
package struct PageRequest: Sendable, Equatable {
    /// The entity of the records.
    package var entity: String
    package var path: String
    package var query: [QueryItem]
    /// Asks only for records changed at or after this time.
    package var since: QueryItem?
    package var list: ListPlan
    /// `next` of the page before; nil for the first page.
    package var position: String?
    /// False if an error must not quote the answer, which may hold secrets of any record.
    package var mayQuoteAnswer = true

    package init(
        entity: String = "", path: String, query: [QueryItem] = [], since: QueryItem? = nil, list: ListPlan,
        position: String? = nil
    ) {
        self.entity = entity
        self.path = path
        self.query = query
        self.since = since
        self.list = list
        self.position = position
    }

    package var request: WireRequest {
        var request = WireRequest.get(wirePath)
        request.mayQuoteAnswer = mayQuoteAnswer
        return request
    }

    private var wirePath: String {
        switch list.style {
        case .page(let parameter, _): path(with: QueryItem(name: parameter, value: "\(page.number)"))
        case .offset(let parameter): path(with: QueryItem(name: parameter, value: "\(offset)"))
        case .cursor(let parameter, _), .lastRecord(let parameter, _), .header(_, let parameter):
            path(with: position.map { QueryItem(name: parameter, value: $0) })
        // Appended to the base address, a text that does not start with a slash could be read as part of the host.
        case .link, .nextURL, .headerURL: position.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? path(with: nil)
        case .single: path(with: nil)
        }
    }

    private func path(with position: QueryItem?) -> String {
        var items = [position].compactMap(\.self) + query
        if let since { items.append(since) }
        if let size = list.size { items.append(QueryItem(name: size, value: "\(list.pageSize)")) }
        let query = items.map { "\(Entity.percentEncoded($0.name))=\(Entity.percentEncoded($0.value))" }
        return query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))"
    }

    // MARK: Positions

    /// The page's number, from `list.first`, and how many records come before it.
    package var page: (number: Int, before: Int) {
        let parts = (position ?? "").split(separator: "/", maxSplits: 1).map { Int($0) }
        guard let number = parts.first ?? nil, number >= list.first else { return (list.first, 0) }
        if parts.count > 1, let before = parts[1], before >= 0 { return (number, before) }
        let (before, overflow) = (number - list.first).multipliedReportingOverflow(by: list.pageSize)
        return (number, overflow ? Int.max : before)
    }

    /// How many records the page skips, if the list is paged by offset.
    package var offset: Int { position.flatMap { Int($0) }.map { max(0, $0) } ?? 0 }
}
