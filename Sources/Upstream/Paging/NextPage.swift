internal import EntitySchema
internal import JSONText

/// Finds the position of the page after one that was read, by the list's paging style (`PageRequest`).
struct NextPage {
    private let request: PageRequest
    private let base: BaseAddress
    private let tokenPlace: TokenPlace

    /// `tokenPlace`: where a request carries the token, which no position repeats.
    init(after request: PageRequest, base: BaseAddress, _ tokenPlace: TokenPlace = .bearer) {
        self.request = request
        self.base = base
        self.tokenPlace = tokenPlace
    }

    /// Nil after the last page. Throws when the response names a next page that cannot be read: a list cut short would
    /// look like a list whose other records were deleted. `last` is the last record, which `Style.lastRecord` needs.
    func position(
        in response: HTTPResponse, _ body: JSONText, count: Int, total: Int?, last: JSONText? = nil
    ) throws(UpstreamError) -> String? {
        let more = saysMore(body)
        switch request.list.style {
        case .page(_, let pages):
            return nextPage(count: count, total: total, pages: pages?.value(in: body)?.wholeNumber, more: more)
        case .offset:
            // As with numbered pages, all records of one may be such as the caller may not see.
            let isHidden = count == 0 && more == true
            let (end, overflow) = request.offset.addingReportingOverflow(isHidden ? request.list.pageSize : count)
            let isLast = more.map(!) ?? total.map { end >= $0 } ?? (count < request.list.pageSize)
            // Any other empty page is the end whatever the counts say, or a list that shrinks would be read forever.
            return count == 0 && !isHidden || isLast || overflow ? nil : "\(end)"
        case .cursor(_, let place):
            let isLast = more.map(!) ?? (request.list.isScroll && count == 0)
            return isLast ? nil : try cursor(place, body, isEmpty: count == 0)
        case .lastRecord(_, let place):
            let isLast = more.map(!) ?? (count < request.list.pageSize)
            return count == 0 || isLast ? nil : try mark(place, last)
        case .link: return try linked(response)
        case .headerURL(let name):
            guard let address = response.filledHeader(name) else { return nil }
            return try following(address)
        case .header(let name, _): return response.filledHeader(name)
        case .nextURL(let place):
            guard let value = place.value(in: body), value.boolean != false else { return nil }
            guard let text = value.string else { throw malformed(place, value, "an address") }
            return text.isEmpty ? nil : try following(text)
        case .single: return nil
        }
    }

    private func saysMore(_ body: JSONText) -> Bool? {
        request.list.more?.value(in: body).flatMap(Self.truth).map { $0 == request.list.moreIs }
    }

    /// What a mark says that is a boolean, or the number of records that are left; nil for a negative one, as for "unknown".
    private static func truth(of mark: JSONText) -> Bool? {
        mark.truth ?? mark.wholeNumber.flatMap { $0 < 0 ? nil : $0 > 0 }
    }

    /// An upstream may return fewer records per page than requested, so the records before are counted, not computed.
    private func nextPage(count: Int, total: Int?, pages: Int?, more: Bool?) -> String? {
        let (number, before) = request.page
        let (seen, overflow) = before.addingReportingOverflow(count)
        guard count > 0 || more == true, !overflow, number < Int.max else { return nil }
        let isLast: Bool
        if let more {
            isLast = !more
        } else if let pages {
            isLast = number - request.list.first + 1 >= pages
        } else if let total {
            isLast = seen >= total
        } else {
            isLast = count < request.list.pageSize
        }
        return isLast ? nil : "\(number + 1)/\(seen)"
    }

    /// Where the list may go on although its total says that this full page is the last: servers may stop counting there,
    /// count that page alone, or only estimate, as is certain of a total that is less than what came. Nil if nothing
    /// suggests that.
    func behindTotal(_ body: JSONText, count: Int, total: Int?) -> String? {
        guard request.list.more == nil, count == request.list.pageSize else { return nil }
        let (end, overflow) = request.recordsBefore.addingReportingOverflow(count)
        guard !overflow else { return nil }
        switch request.list.style {
        case .page(_, let pages):
            let counted = pages?.value(in: body)?.wholeNumber.map(request.records(onPages:)) ?? total
            let mayCountPage = pages == nil && Self.mayCountPage(total, count: count, request)
            guard let counted, mayCountPage || Self.isDoubtful(counted, after: end) else { return nil }
            return "\(request.page.number + 1)/\(end)"
        case .offset:
            guard let total, Self.mayCountPage(total, count: count, request) || Self.isDoubtful(total, after: end)
            else { return nil }
            return "\(end)"
        default: return nil
        }
    }

    /// What of a page that names no other one shows that the list goes on all the same; nil if nothing does.
    func earlyEnd(_ body: JSONText, count: Int, total: Int?) -> String? {
        if let more = request.list.more, saysMore(body) == true { return "\(more.description), and no next page" }
        guard count == 0, isCounted(beyond: request.recordsBefore, body, total) else { return nil }
        return "an empty page before its end"
    }

    /// Whether the list counts more records than came on full pages. After a multiple of 1,000 the upstream may show no more, and
    /// after a page that was not full the others may be hidden; of pages of unknown length, none is known to be full. A number of
    /// pages is often one too many where the last one is full.
    private func isCounted(beyond records: Int, _ body: JSONText, _ total: Int?) -> Bool {
        let size = request.list.pageSize
        let isAfterFull = records > 0 && size > 1 && records.isMultiple(of: size)
        guard isAfterFull, !Self.isLimit(records), request.list.more == nil else { return false }
        var pages: Int?
        if case .page(_, let place) = request.list.style { pages = place?.value(in: body)?.wholeNumber }
        return (pages.map { request.records(onPages: max($0, 1) - 1) } ?? total ?? 0) > records
    }

    private static func isDoubtful(_ total: Int, after records: Int) -> Bool {
        total < records || total == records && isLimit(total)
    }

    /// Servers have smaller pages only where they are asked for them.
    private static let leastPage = 10

    /// Whether the total may be the length of the first page, for all that this page says.
    private static func mayCountPage(_ total: Int?, count: Int, _ request: PageRequest) -> Bool {
        request.recordsBefore == 0 && total == count && count >= leastPage
    }

    /// Whether all that is open about the total of this last page is whether it counts that page alone.
    static func mayOnlyCountPage(_ page: Page, _ request: PageRequest) -> Bool {
        mayCountPage(page.total, count: page.count, request) && !isLimit(page.count)
    }

    /// The total, unless the list has gone on behind it.
    func believed(_ total: Int?, count: Int) -> Int? {
        guard let total, count > 0, request.recordsBefore >= max(total, 1) else { return total }
        return nil
    }

    /// Whether servers may stop counting at this number, as Appwrite does at 5,000 and Elasticsearch at 10,000.
    private static func isLimit(_ total: Int) -> Bool { total >= 1000 && total.isMultiple(of: 1000) }

    /// `isEmpty`: the page has no records.
    private func cursor(_ place: Place, _ body: JSONText, isEmpty: Bool) throws(UpstreamError) -> String? {
        // Programs in PHP write false for nothing.
        guard let value = place.value(in: body), value.boolean != false else { return nil }
        let isCursor = value.kind == .string || value.kind == .number || value.kind == .array && request.hasTypedCursor
        guard isCursor, request.canSend(value.plain) else { throw malformed(place, value, "a cursor") }
        // A cursor of 0 is where the list begins, or says that it is over; after an empty page it cannot be the former.
        let isOver = isEmpty && request.hasEnd && value.plain == "0"
        return value.plain.isEmpty || isOver ? nil : written(value)
    }

    /// A cursor that goes back inside JSON keeps its type.
    private func written(_ value: JSONText) -> String { request.hasTypedCursor ? value.text : value.plain }

    /// What the next page comes after. A list whose last record has none cannot be continued, or said to be complete.
    private func mark(_ place: Place, _ last: JSONText?) throws(UpstreamError) -> String {
        guard let value = last.flatMap({ place.value(in: $0) }), !value.plain.isEmpty else {
            throw .malformed(
                "\(request.path) answered a last record without \(place.description), by which the next page is asked "
                    + "for; correct pagination.next.last in the schema")
        }
        return written(value)
    }

    /// A longer token counts as none: a URL must have room for it.
    private static let longestToken = 8 << 10

    /// What the next pull asks with for what changes from now on; nil if the page names nothing of the kind.
    func delta(in body: JSONText) throws(UpstreamError) -> String? {
        guard let token = request.deltaToken, let value = token.place.value(in: body) else { return nil }
        guard value.kind == .string || value.kind == .number else {
            throw malformed(token.place, value, "a token", key: "pull.since")
        }
        guard !value.plain.isEmpty, value.plain.utf8.count <= Self.longestToken else { return nil }
        return token.form == .link ? try following(value.plain, as: "next delta") : value.plain
    }

    private func linked(_ response: HTTPResponse) throws(UpstreamError) -> String? {
        let target: String?
        do {
            target = try LinkHeader(of: response).next
        } catch {
            throw .malformed(
                "\(request.path) answered a Link header that cannot be read, so the next page is unknown; "
                    + "correct the upstream, or page this list in another style (pagination.style in the schema)")
        }
        guard let target else { return nil }
        return try following(target)
    }

    /// The path of a next page that the upstream named itself.
    private func following(
        _ address: String, as name: String = "next page"
    ) throws(UpstreamError) -> String {
        guard address.utf8.count <= BaseAddress.longest else {
            throw .malformed(
                "\(request.path) says that its \(name) is at an address of more than \(BaseAddress.longest >> 10) KiB; nothing "
                    + "is sent there; correct pagination in the schema")
        }
        let address = tokenPlace.leavingOut(of: address)
        if let next = base.path(of: address, from: request.request.path, forgivesHTTP: true) { return next }
        throw .malformed(
            "\(request.path) says that its \(name) is at \(shown(address)), which is not below the address that "
                + "the token is for; nothing is sent there. If that address is right, set upstream.base_url to it")
    }

    /// Scheme and host alone, if the rest must not be repeated.
    private func shown(_ address: String) -> String {
        guard !request.mayQuoteAnswer else { return String(address.start(scalars: 300)) }
        return BaseAddress.host(of: address).map { "\($0)/…" } ?? "an address"
    }

    private func malformed(
        _ place: Place, _ value: JSONText, _ expected: String, key: String = "pagination.next"
    ) -> UpstreamError {
        let found = request.mayQuoteAnswer ? String(value.text.start(scalars: 60)) : "another value"
        return .malformed(
            "\(request.path) answered \(found) at \(place.description), where \(expected) is expected; "
                + "correct \(key) in the schema")
    }
}
