internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Logging
internal import SQLiteStore
internal import SocketServer
internal import Synchronization

/// Lists of records: a page as JSON, or the whole list in a format that `Accept` names.
extension Handlers {
    /// `GET …/{id}/{relation}` of a relation to many records, whose `field` refers to this one.
    func list(
        _ relation: Relation, by field: String, of entity: Entity, _ key: String, _ request: Request
    ) async throws -> Response {
        try await list(self.entity(relation.entity), request, isTried: false) { query in
            // Uses the record's current key; the caller may send an earlier one.
            let current = try JSONText(recordBytes(entity, key))[entity.key]?.plain ?? ""
            query.filters.append(FilterCondition(field: field, comparison: .equal, values: [current]))
        }
    }

    /// The list that the request asks for. `isTried`: `cachedList` has not answered it. `narrow` adds a filter that the query
    /// does not have.
    func list(
        _ entity: Entity, _ request: Request, isTried: Bool = true,
        _ narrow: (inout ListQuery) throws -> Void = { _ in }
    ) async throws -> Response {
        let begun = now()
        let format = ListFormat(request)
        let parameters = try QueryParameters(request)
        var (query, include) = try asked(parameters, of: entity, as: format)
        try narrow(&query)
        if query.usesSearch { try await store.catchUpSearch(for: ReadCaller(request)) }
        if format.isWhole { return try await whole(query, include, of: entity, as: format, request) }
        let page = try await store.anyList(
            store.prepared(query, include: include, after: Self.opening), isLong: isTried && !query.usesSearch,
            for: ReadCaller(request))
        return answer(page, request, since: begun).unlessKnown(to: request)
    }

    /// A page of the same list at once; nil for a whole list, for one that takes long, and for a search, which may have to
    /// wait for its index. Nothing is read if the same was asked for since the last commit.
    func cachedList(_ entity: Entity, _ request: Request) throws -> Response? {
        let begun = now()
        let format = ListFormat(request)
        guard !format.isWhole else { return nil }
        let moment = store.moment
        if let moment, let known = answeredLists.answer(to: request, at: moment) {
            return known.unlessKnown(to: request)
        }
        let list = try askedLists.list(of: entity.name, request.query ?? "") { text in
            let (query, include) = try asked(QueryParameters(text), of: entity, as: format)
            return try store.prepared(query, include: include, after: Self.opening)
        }
        guard !list.query.usesSearch, let page = try store.quickList(list) else { return nil }
        // One that says how long it took does not take as long the next time. Asked first: the answer takes the page's bytes.
        let isLasting = page.unindexed.isEmpty
        let response = answer(page, request, since: begun)
        if let moment, isLasting { answeredLists.keep(response, to: request, at: moment) }
        return response.unlessKnown(to: request)
    }

    // MARK: The request

    /// Throws all mistakes of the query at once, unless some show only once the others are corrected.
    private func asked(
        _ parameters: QueryParameters, of entity: Entity, as format: ListFormat
    ) throws -> (ListQuery, [Inclusion]) {
        var mistakes = mistakes
        let query = parameters.listQuery(of: entity, as: format, &mistakes)
        let include = mistakes.collect([], try parameters.inclusions(of: entity, in: schema))
        guard !mistakes.isEmpty else { return (query, include) }
        mistakes.add(try store.mistakes(in: query).map { .parameter($0.field, $0.message) })
        try mistakes.throwAny()
        return (query, include)
    }

    // MARK: The answer

    private static let opening: StaticString = "{\"data\":"

    /// The answer of a page that begins with `opening`.
    private func answer(_ page: consuming ListPage, _ request: Request, since begun: Timestamp) -> Response {
        var page = page
        Self.close(&page)
        var response = Response.tagged(page.records)
        NextLink.add(page.next, to: &response, of: request)
        if let scan = scan(page, since: begun) { response.headers.append(scan) }
        return response
    }

    /// Makes the whole answer of a page that begins with `opening`.
    private static func close(_ page: inout ListPage) {
        page.records += Array(",\"next\":".utf8)
        page.records += JSONText.string(page.next).bytes
        if let total = page.total { page.records += Array(",\"total\":\(total)".utf8) }
        if !page.isComplete { page.records += Array(",\"complete\":false".utf8) }
        page.records.append(UInt8(ascii: "}"))
    }

    /// Says that the list reads the whole table, if it does.
    private func scan(_ page: ListPage, since begun: Timestamp) -> (name: String, value: String)? {
        guard !page.unindexed.isEmpty else { return nil }
        let fields = page.unindexed.joined(separator: ", ")
        let elapsed = now().since(begun).components
        let milliseconds = elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000
        return ("Server-Timing", "scan;desc=\"no index on \(fields)\", db;dur=\(milliseconds)")
    }

    /// The whole list. What is wrong with the query, and whether the list is complete, must be known before it begins.
    private func whole(
        _ query: ListQuery, _ include: [Inclusion], of entity: Entity, as format: ListFormat, _ request: Request
    ) async throws -> Response {
        guard let place = places.wholeLists.take(for: request) else {
            throw Problem.unavailable(
                "too many whole lists are being sent; wait until one has ended, or read pages of JSON")
        }
        let begun = now()
        let export = ListExport(
            store: store, query: query, include: include, caller: ReadCaller(request),
            format: RecordFormat(format, entity, query.fields))
        let first = try await export.first()
        var headers = [(name: "Content-Type", value: format.contentType), ("Cache-Control", "no-store")]
        if let scan = scan(first, since: begun) { headers.append(scan) }
        if !first.isComplete { headers.append(("Cache-Status", CacheStatus.incomplete.text)) }
        let start = Mutex<ListPage?>(first)  // not kept while the rest is sent
        return Response(status: 200, headers: headers) { [log, callers] write in
            defer { withExtendedLifetime(place) {} }
            guard let first = start.withLock({ $0.take() }) else { return }
            try await export.write(from: first) { bytes in
                // A list can take hours, and the session that let its caller in may have ended.
                guard callers.mayContinue(request) else { throw CancellationError() }
                try await write(bytes)
            } report: { error in
                log.error("a list was cut off", metadata: ["error": "\(error)", "request_id": "\(request.id)"])
            }
        }
    }
}
