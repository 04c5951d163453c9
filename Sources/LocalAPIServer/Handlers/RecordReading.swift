internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer
internal import SyncEngine

/// Reading records: from the cache, or through it from the upstream if the cache has none or the caller asks.
extension Handlers {
    /// One record; `refresh=true` asks the upstream first and `refresh=false` never, `include=` adds related records,
    /// `labels=true` the labels of enum values, `server=true` the upstream's values of pending fields. With `fromCache` the
    /// upstream is not asked, whatever the request says.
    func read(
        _ entity: Entity, _ key: String, _ request: Request, fromCache: Bool = false
    ) async throws -> Response {
        var include: [Inclusion] = []
        var (labels, server) = (false, false)
        var freshness = fromCache ? Freshness.cachedOnly : .cachedFirst
        var outcome: RefreshOutcome?
        if request.query != nil {
            let parameters = try QueryParameters(request)
            include = try parameters.inclusions(of: entity, in: schema)
            labels = try parameters.flag("labels")
            server = try parameters.flag("server")
            if !fromCache { freshness = try Freshness(parameters, request) }
            if freshness == .upstreamFirst {
                outcome = await engine.refresh(entity, key: key)
                if outcome == .absent { throw await missing("\(entity.name)/\(key)", outcome) }
            }
        }
        if let shown = try store.shown(entity.name, key: key, include: include, labels: labels) {
            let whole = server ? try withServerValues(shown, entity, key) : shown
            return answer(whole, outcome.map { CacheStatus($0, isMiss: false) }, to: request)
        }
        if Freshness.isOnlyIfCached(request) { throw await onlyIfCached(entity.name, key) }
        if outcome == nil, freshness != .cachedOnly { outcome = await engine.refresh(entity, key: key) }
        guard let outcome, let shown = try store.shown(entity.name, key: key, include: include, labels: labels) else {
            throw await missing(entity.name, key, outcome)
        }
        let whole = server ? try withServerValues(shown, entity, key) : shown
        return answer(whole, CacheStatus(outcome, isMiss: true), to: request)
    }

    /// Adds `_server`; null when the upstream has no such record. Every pull of the record changes `_sync` and so the
    /// tag, which therefore needs no part of its own.
    private func withServerValues(_ shown: ShownRecord, _ entity: Entity, _ key: String) throws -> ShownRecord {
        var whole = shown
        let values = try store.serverValues(of: entity.name, key: key) ?? .null
        whole.bytes = shown.bytes.dropLast() + Array(",\"_server\":".utf8) + values.bytes + [UInt8(ascii: "}")]
        return whole
    }

    private func answer(_ shown: ShownRecord, _ status: CacheStatus?, to request: Request) -> Response {
        let tag = EntityTag.text(of: shown.version)
        var response =
            EntityTag.isKnown(tag, to: request) ? Response(status: 304) : Response.json(200, shown.bytes)
        response.headers.append(("ETag", tag))
        if let status { response.headers.append(("Cache-Status", status.text)) }
        return response
    }

    /// `GET …/history`: why a record is as it is, oldest first.
    func history(of entity: Entity, _ key: String, _ request: Request) throws -> Response {
        let parameters = try QueryParameters(request)
        let limit = try parameters.integer("limit", in: 1...1000, else: 50)
        let after = try parameters.position("cursor") ?? 0
        let (entries, next) = try store.history(of: entity.name, key: key, after: after, limit: limit)
        return NextLink.page(entries, next: next.map { String($0) }, of: request)
    }
}
