internal import EntitySchema
internal import JSONText

/// Finds the position of the page after one that was read, by the list's paging style (`PageRequest`).
struct NextPage {
    private let request: PageRequest
    private let base: BaseAddress

    init(after request: PageRequest, base: BaseAddress) {
        self.request = request
        self.base = base
    }

    /// Nil after the last page. Throws when the response names a next page that cannot be read: a list cut short would
    /// look like a list whose other records were deleted.
    func position(
        in response: HTTPResponse, _ body: JSONText, count: Int, total: Int?
    ) throws(UpstreamError) -> String? {
        switch request.list.style {
        case .page(_, let pages):
            return nextPage(count: count, total: total, pages: pages?.value(in: body)?.wholeNumber)
        case .offset:
            let (end, overflow) = request.offset.addingReportingOverflow(count)
            let isLast = total.map { end >= $0 } ?? (count < request.list.pageSize)
            // An empty page is the end whatever the counts say, or a list that shrinks would be read forever.
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

    /// An upstream may return fewer records per page than requested, so the records before are counted, not computed.
    private func nextPage(count: Int, total: Int?, pages: Int?) -> String? {
        let (number, before) = request.page
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
                "\(request.path) answered a Link header that cannot be read, so the next page is unknown; "
                    + "correct the upstream, or page this list in another style (pagination.style in the schema)")
        }
        guard let target = links.target(of: "next") else { return nil }
        return try following(target)
    }

    /// The path of a next page that the upstream named itself.
    private func following(_ address: String) throws(UpstreamError) -> String {
        if let next = base.path(of: address, from: request.request.path) { return next }
        throw .malformed(
            "\(request.path) says that its next page is at \(address.prefix(300)), which is not below the address that "
                + "the token is for; nothing is sent there. If that address is right, set upstream.base_url to it")
    }

    private func malformed(_ place: Place, _ value: JSONText, _ expected: String) -> UpstreamError {
        .malformed(
            "\(request.path) answered \(value.text.prefix(60)) at \(place.description), where \(expected) is expected; "
                + "correct pagination.next in the schema")
    }
}
