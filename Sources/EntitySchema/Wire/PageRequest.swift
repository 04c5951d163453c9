internal import JSONText

/// A request for one page of a list, by the list's paging style.
///
/// What a position is depends on the style: `page` or `page/records before it`, a number of records, a cursor, a
/// header's value, or a path with its query. A cursor that stands in a template is JSON text, so that it keeps its type.
/// A position that does not fit the style, as after a change of the schema, is the first page.
package struct PageRequest: Sendable, Equatable {
    /// The entity of the records.
    package var entity: String
    package var path: String
    package var query: [QueryItem]
    /// Asks only for records changed at or after this time, or since a token.
    package var since: QueryItem?
    /// How the list is asked for, if it is more than GET with parameters.
    package var call: ListCall?
    /// What the placeholders of `call` stand for.
    package var values = ListValues()
    /// Where the last page has a mark for the next pull.
    package var deltaToken: PullPlan.DeltaToken?
    package var list: ListPlan
    /// `next` of the page before; nil for the first page.
    package var position: String?
    /// The statuses of answers that have a new position and no records (`SignalEvents.expired`).
    package var renewing: [Int] = []
    /// False for a list of events: its next position is where the next poll begins.
    package var hasEnd = true
    /// False if an error must not quote the answer, which may hold secrets of any record.
    package var mayQuoteAnswer = true

    package init(
        entity: String = "", path: String, query: [QueryItem] = [], since: QueryItem? = nil, call: ListCall? = nil,
        list: ListPlan, position: String? = nil
    ) {
        self.entity = entity
        self.path = path
        self.query = query
        self.since = since
        self.call = call
        self.list = list
        self.position = position
    }

    package var request: WireRequest {
        if let continued { return continued.request }
        var request = call?.method == "POST" ? .query(wirePath, call?.body?.filled(value)) : WireRequest.get(wirePath)
        request.mayQuoteAnswer = mayQuoteAnswer
        request.isSentOnce = list.isScroll && position != nil
        let own = (call?.headers ?? []).compactMap { header in
            header.value.text(value).map { WireRequest.Header(header.name, $0) }
        }
        request.headers.removeAll { header in own.contains { $0.isNamed(header.name) } }
        request.headers += own
        return request
    }

    /// A page after the first, where that is asked for by another call.
    private var continued: PageRequest? {
        guard position != nil, let next = list.continuation else { return nil }
        var page = self
        (page.path, page.query, page.call) = (next.path, next.query, next.call)
        (page.since, page.deltaToken) = (nil, nil)
        page.list.size = nil
        page.list.continuation = nil
        return page
    }

    /// Whether it asks, in a header, for what changed since a time.
    package var isConditional: Bool { values.since != nil && call?.isConditional == true }

    private var wirePath: String {
        switch list.style {
        case .page(let parameter, _): path(with: QueryItem(name: parameter, value: "\(page.number)"))
        case .offset(let parameter): path(with: QueryItem(name: parameter, value: "\(sentOffset)"))
        case .cursor(let parameter, _), .lastRecord(let parameter, _), .header(_, let parameter):
            path(with: position.map { QueryItem(name: parameter, value: $0) })
        // Appended to the base address, a text that starts otherwise could be read as part of the host.
        case .link, .nextURL, .headerURL: address(position) ?? path(with: nil)
        case .single: path(with: nil)
        }
    }

    /// What an upstream gave out below its base address, or at it (`?page=2`).
    private func address(_ text: String?) -> String? {
        text.flatMap { $0.hasPrefix("/") || $0.hasPrefix("?") ? $0 : nil }
    }

    /// What says where the page is takes the place of a parameter of the same name that says where the list begins, and
    /// that the place of a constant one.
    private func path(with position: QueryItem?) -> String {
        if deltaToken?.form == .link, let link = address(values.delta) { return self.link(link, position) }
        let position = isNamed(list.style.positionName) ? nil : position
        let since = since?.name == position?.name ? nil : since
        var items = [position].compactMap(\.self)
        items += asked.filter { $0.name != position?.name && $0.name != since?.name }
        if let since { items.append(since) }
        if let size = list.size, !isNamed("size") { items.append(QueryItem(name: size, value: "\(list.pageSize)")) }
        return filledPath.adding(items)
    }

    /// The schema's own parameters, of which several may have one name.
    private var asked: [QueryItem] {
        query
            + (call?.query ?? []).compactMap { parameter in
                parameter.value.text(value).map { QueryItem(name: parameter.name, value: $0) }
            }
    }

    /// The address that the upstream gave out has all but the position of a later page.
    private func link(_ address: String, _ position: QueryItem?) -> String {
        guard self.position != nil, let position else { return address }
        return TokenPlace.query(name: position.name).leavingOut(of: address).adding([position])
    }

    private var filledPath: String {
        call?.path?.text { name in value(name).flatMap { Entity.segment($0.plain) }.map { .string($0) } } ?? path
    }

    private func isNamed(_ name: String?) -> Bool { name.map { call?.names($0) ?? false } ?? false }

    // MARK: Values

    /// What a placeholder of the list stands for; nil if it has no value in this request.
    private func value(_ name: ValueTemplate.Name) -> JSONText? {
        switch name {
        case .now(let span): values.now.map { .string(($0 + span).description) }
        case .secret, .field: .none
        case .value(let name): value(named: name)
        }
    }

    private func value(named name: String) -> JSONText? {
        switch name {
        case "page": .some(.integer(page.number))
        case "offset": .some(.integer(sentOffset))
        case "last": .some(.integer(sentLast))
        case "size": .some(.integer(list.pageSize))
        case "cursor": cursor
        case "since": values.since.map(JSONText.string)
        case "delta": values.delta.map(JSONText.string)
        case "until": values.until.map { text in Int(text).map { .integer($0) } ?? .string(text) }
        case "account": values.account.map(JSONText.string)
        default: .none
        }
    }

    /// Whether the position is JSON text.
    package var hasTypedCursor: Bool {
        list.style.positionName == "cursor" && (list.continuation != nil || isNamed("cursor"))
    }

    /// False for a cursor that would stand in a path and lead to another place, such as `..`.
    package func canSend(_ cursor: String) -> Bool {
        let path = list.continuation?.call.path?.placeholders ?? []
        return !path.contains { $0.name == .value("cursor") } || Entity.segment(cursor) != nil
    }

    private var cursor: JSONText? { position.flatMap { try? JSONText(parsing: $0) } }

    // MARK: Positions

    /// The page's number, from `list.first`, and how many records come before it.
    package var page: (number: Int, before: Int) {
        let parts = (position ?? "").split(separator: "/", maxSplits: 1).map { Int($0) }
        guard let number = parts.first ?? nil, number >= list.first else { return (list.first, 0) }
        if parts.count > 1, let before = parts[1], before >= 0 { return (number, before) }
        let (before, overflow) = (number - list.first).multipliedReportingOverflow(by: list.pageSize)
        return (number, overflow ? Int.max : before)
    }

    /// The page before this one, if only an empty page shows that a full one was the last. Nil for the first page, and
    /// after a multiple of 1,000 records, where a list may be cut.
    package var before: PageRequest? {
        guard position != nil, list.total == nil, list.totalHeader == nil, list.more == nil else { return nil }
        var before = self
        let skipped: Int
        switch list.style {
        case .page(_, pages: nil):
            skipped = page.before
            before.position = page.number - 1 == list.first ? nil : "\(page.number - 1)/\(skipped - list.pageSize)"
        case .offset:
            skipped = offset
            before.position = skipped == list.pageSize ? nil : "\(skipped - list.pageSize)"
        default: return nil
        }
        return skipped >= list.pageSize && !skipped.isMultiple(of: 1000) ? before : nil
    }

    /// How many records the page skips, if the list is paged by offset.
    package var offset: Int { position.flatMap { Int($0) }.map { max(0, $0) } ?? 0 }

    /// How many records come before the page, if the style says so.
    package var recordsBefore: Int {
        switch list.style {
        case .page: page.before
        case .offset: offset
        default: 0
        }
    }

    /// How many records so many full pages have.
    package func records(onPages pages: Int) -> Int {
        let (records, overflow) = pages.multipliedReportingOverflow(by: list.pageSize)
        return overflow ? Int.max : records
    }

    /// The same as the upstream counts.
    private var sentOffset: Int { min(offset, Int.max - list.firstOffset) + list.firstOffset }

    /// The last record that the page may have, as the upstream counts.
    private var sentLast: Int {
        let (last, overflow) = sentOffset.addingReportingOverflow(list.pageSize - 1)
        return overflow ? Int.max : last
    }
}

extension PullPlan {
    /// A request for a page of the list of `entity`: of all of it, of what changed since a time, or since a token; `until` asks
    /// for a part of the window only.
    package func request(
        of entity: String, at position: String? = nil, since: String? = nil, delta: String? = nil, until: String? = nil,
        now: Timestamp? = nil
    ) -> PageRequest {
        var request = PageRequest(
            entity: entity, path: path, query: query, call: call, list: list, position: position)
        request.values = ListValues(since: since, delta: delta, now: now)
        request.values.until = until
        switch mode {
        case .since(let parameter, _):
            request.values.since = since ?? parameter.from
            if !parameter.isInTemplate { request.since = request.values.since.map(parameter.item) }
        case .delta(let token):
            request.deltaToken = token
            if case .token(let parameter?) = token.form {
                request.since = delta.map { QueryItem(name: parameter, value: $0) }
            }
        case .newestFirst, .full: break
        }
        return request
    }
}
