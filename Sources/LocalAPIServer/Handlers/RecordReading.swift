internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer
internal import SyncEngine

/// Reading records: from the cache, or through it from the upstream if the cache has none or the caller asks.
extension Handlers {
    /// `GET …/{id}`: the record, or the secrets of it that the request names.
    func one(_ entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        if mistakes.isEmpty, let secrets = try revealed(entity, key, request) { return secrets }
        return try await get(entity, key, request)
    }

    /// The same for a request without a query, if the cache has the record; nil for all others.
    ///
    /// Most reads are of this kind. It is apart because each asynchronous call on the way takes hundreds of instructions.
    func cached(_ entity: Entity, _ key: String, _ request: Request) throws -> Response? {
        guard request.query == nil, mistakes.isEmpty else { return nil }
        let known = EntityTag.known(by: request)
        var response = try unread(entity, key, known)
        if response == nil {
            let shown = try store.shown(entity.name, key: key, keepsVersion: !known.isEmpty)
            response = shown.map { answer($0, nil, known) }
        }
        let mayWait = response?.status == 304 && Preference(request).wait != nil
        return mayWait ? nil : response
    }

    /// 304 without reading the record, if the caller has the version that was shown since the last commit; nil otherwise.
    private func unread(_ entity: Entity, _ key: String, _ known: [String]) throws -> Response? {
        guard !known.isEmpty, let version = try store.shownVersion(of: entity.name, key: key) else { return nil }
        let tag = EntityTag.text(of: version)
        return EntityTag.isKnown(tag, to: known) ? .unchanged(tag) : nil
    }

    /// `GET …/{id}/{relation}` of a relation to one record: that record, as its own address answers.
    func one(
        _ relation: Relation, by field: String, of entity: Entity, _ key: String, _ request: Request
    ) async throws -> Response {
        let other = try self.entity(relation.entity)
        // What is wrong with the request comes before what the records lack.
        if !mistakes.isEmpty { _ = try RecordQuery.of(request, other, self) }
        let reference = entity.value(of: field, in: try JSONText(recordBytes(entity, key)))?.plain ?? ""
        guard !reference.isEmpty else {
            throw Problem.notFound("\(entity.name)/\(key) has no \(relation.name); its \(field) is empty")
        }
        return try await one(other, reference, request)
    }

    /// One record; `refresh=true` asks the upstream first and `refresh=false` never, `include=` adds related records,
    /// `labels=true` the labels of enum values, `server=true` the upstream's values of pending fields, and `fields=` leaves
    /// out all others. With `fromCache` the upstream is not asked, whatever the request says.
    func read(
        _ entity: Entity, _ key: String, _ request: Request, fromCache: Bool = false
    ) async throws -> Response {
        var query = try RecordQuery.of(request, entity, self)
        if fromCache { query.freshness = .cachedOnly }
        var outcome: RefreshOutcome?
        if query.freshness == .upstreamFirst {
            outcome = await engine.refresh(entity, key: key, for: ReadCaller(request))
            if outcome == .absent { throw missing("\(entity.name)/\(key)", outcome) }
        }
        if let shown = try await shown(entity, key, query) {
            return answer(shown, outcome.map { CacheStatus($0, isMiss: false) }, EntityTag.known(by: request))
        }
        if Freshness.isOnlyIfCached(request) { throw onlyIfCached(entity.name, key) }
        if outcome == nil, query.freshness != .cachedOnly {
            outcome = await engine.refresh(entity, key: key, for: ReadCaller(request))
        }
        guard let outcome, let shown = try await shown(entity, key, query) else {
            throw missing(entity.name, key, outcome)
        }
        return answer(shown, CacheStatus(outcome, isMiss: true), EntityTag.known(by: request))
    }

    /// Nil if the record is not cached.
    private func shown(_ entity: Entity, _ key: String, _ query: RecordQuery) async throws -> ShownRecord? {
        let shown = try await store.anyShown(
            entity.name, key: key, include: query.include, labels: query.labels, for: query.caller)
        guard let shown else { return nil }
        let narrowed = query.narrowed(shown, entity)
        return query.server ? try withServerValues(narrowed, entity, key) : narrowed
    }

    /// Adds `_server`; null when the upstream has no such record. Every pull of the record changes `_sync` and so the
    /// tag, which therefore needs no part of its own.
    private func withServerValues(_ shown: ShownRecord, _ entity: Entity, _ key: String) throws -> ShownRecord {
        var whole = shown
        let values = try store.serverValues(of: entity.name, key: key) ?? .null
        whole.bytes.removeLast()  // `dropLast` would copy the bytes one by one
        whole.bytes += ",\"_server\":".utf8
        whole.bytes += values.bytes
        whole.bytes.append(UInt8(ascii: "}"))
        return whole
    }

    /// `known`: the versions that the caller has (`EntityTag.known`).
    private func answer(_ shown: ShownRecord, _ status: CacheStatus?, _ known: [String]) -> Response {
        var response = Response.tagged(shown.bytes, EntityTag.text(of: shown.version), known)
        if let status { response.headers.append(("Cache-Status", status.text)) }
        return response
    }

    /// `GET …/history`: why a record is as it is, oldest first.
    func history(of entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        var mistakes = mistakes
        let parameters = try QueryParameters(request)
        let limit = parameters.pageSize(50, &mistakes)
        let after: Int64? = mistakes.collect(nil, try parameters.position("cursor"))
        try mistakes.throwAny()
        let (entries, next) = try await store.away(for: ReadCaller(request)) { [name = entity.name] store in
            try store.history(of: name, key: key, after: after ?? 0, limit: limit)
        }
        return NextLink.page(entries, next: next.map { String($0) }, of: request)
    }
}
