internal import EntitySchema
internal import JSONText

/// Where a page of a list is asked for, and where the next one stands.
///
/// A position is, by the list's style: `page` or `page/records before it`, a number of records, a cursor, a header's
/// value, or a path with its query. One that does not fit the style, as after a change of the schema, is the first page.
struct PageAddress {
    private let request: PageRequest
    private let base: BaseAddress

    init(_ request: PageRequest, base: BaseAddress) {
        self.request = request
        self.base = base
    }

    /// Path and query.
    var path: String {
        switch request.list.style {
        case .page(let parameter, _): path(with: QueryItem(name: parameter, value: "\(page.number)"))
        case .offset(let parameter): path(with: QueryItem(name: parameter, value: "\(offset)"))
        case .cursor(let parameter, _), .header(_, let parameter):
            path(with: request.position.map { QueryItem(name: parameter, value: $0) })
        // Anything else after the base's host could be read as part of it.
        case .link, .nextURL: request.position.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? path(with: nil)
        case .single: path(with: nil)
        }
    }

    private func path(with position: QueryItem?) -> String {
        var items = [position].compactMap(\.self) + request.query
        if let since = request.since { items.append(since) }
        if let size = request.list.size { items.append(QueryItem(name: size, value: "\(request.list.pageSize)")) }
        let query = items.map { "\(Entity.percentEncoded($0.name))=\(Entity.percentEncoded($0.value))" }
        return query.isEmpty ? request.path : "\(request.path)?\(query.joined(separator: "&"))"
    }

    // MARK: The next page

    /// The position of the next page; nil when this was the last. Throws where the answer tells of one that is not to be
    /// had, for a list cut short would look like a list of which the rest was deleted.
    func next(
        after response: HTTPResponse, _ body: JSONText, count: Int, total: Int?
    ) throws(UpstreamError) -> String? {
        switch request.list.style {
        case .page(_, let pages):
            return nextPage(count: count, total: total, pages: pages?.value(in: body)?.wholeNumber)
        case .offset:
            let (end, overflow) = offset.addingReportingOverflow(count)
            let isLast = total.map { end >= $0 } ?? (count < request.list.pageSize)
            // An empty page is the end whatever the counts say, or a list that shrinks would be read for ever.
            return count == 0 || isLast || overflow ? nil : "\(end)"
        case .cursor(_, let place): return try cursor(place, body)
        case .link: return try linked(response)
        case .header(let name, _): return response.header(name).flatMap { $0.isEmpty ? nil : $0 }
        case .nextURL(let place):
            guard let value = place.value(in: body) else { return nil }
            guard let text = value.string else { throw malformed(place, value, "an address") }
            return text.isEmpty ? nil : try following(text)
        case .single: return nil
        }
    }

    /// An upstream may give fewer records a page than it was asked for, so those before are counted, not computed.
    private func nextPage(count: Int, total: Int?, pages: Int?) -> String? {
        let (number, before) = page
        let (seen, overflow) = before.addingReportingOverflow(count)
        guard count > 0, !overflow, number < Int.max else { return nil }
        let isLast: Bool
        if let pages {
            isLast = number >= pages
        } else if let total {
            isLast = seen >= total
        } else {
            isLast = count < request.list.pageSize
        }
        return isLast ? nil : "\(number + 1)/\(seen)"
    }

    private func cursor(_ place: Place, _ body: JSONText) throws(UpstreamError) -> String? {
        guard let value = place.value(in: body) else { return nil }
        guard value.kind == .string || value.kind == .number else { throw malformed(place, value, "a cursor") }
        return value.plain.isEmpty ? nil : value.plain
    }

    private func linked(_ response: HTTPResponse) throws(UpstreamError) -> String? {
        let fields = response.headers.filter { HTTPSyntax.isSameName($0.name, "Link") }.map(\.value)
        let links: LinkHeader
        do {
            links = try LinkHeader(fields)
        } catch {
            throw .malformed(
                "\(request.path) answered a Link header that cannot be read, so the next page is not known; "
                    + "correct the upstream, or page this list in another style (pagination.style in the schema)")
        }
        guard let target = links.target(of: "next") else { return nil }
        return try following(target)
    }

    /// The path of a next page that the upstream named itself.
    private func following(_ address: String) throws(UpstreamError) -> String {
        if let next = base.path(of: address, from: path) { return next }
        throw .malformed(
            "\(request.path) says that its next page is at \(address.prefix(300)), which is not below the address that "
                + "the token is for; nothing is sent there. If it is the right one, make it upstream.base_url")
    }

    private func malformed(_ place: Place, _ value: JSONText, _ expected: String) -> UpstreamError {
        .malformed(
            "\(request.path) answered \(request.mayQuoteAnswer ? value.text.prefix(60) : "another value") at \(place.description), where \(expected) is expected; "
                + "correct pagination.next in the schema")
    }

    // MARK: Positions

    private var page: (number: Int, before: Int) {
        let parts = (request.position ?? "").split(separator: "/", maxSplits: 1).map { Int($0) }
        guard let number = parts.first ?? nil, number >= 1 else { return (1, 0) }
        if parts.count > 1, let before = parts[1], before >= 0 { return (number, before) }
        let (before, overflow) = (number - 1).multipliedReportingOverflow(by: request.list.pageSize)
        return (number, overflow ? Int.max : before)
    }

    private var offset: Int { request.position.flatMap { Int($0) }.map { max(0, $0) } ?? 0 }
}

extension JSONText {
    /// A count, from 0, that is a number or, as some upstreams have it, a number in quotes.
    var wholeNumber: Int? {
        guard kind == .number || kind == .string, let number = Int(plain), number >= 0 else { return nil }
        return number
    }
}
