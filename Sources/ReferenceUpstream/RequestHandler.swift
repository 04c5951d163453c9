internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Answers what the schema's plans describe; knows nothing of faults, of the log, or of time passing.
struct RequestHandler: Sendable {
    let schema: EntitySchema
    let settings: ReferenceUpstream.Settings
    let routes: Routes
    let envelope: Envelope

    init(schema: EntitySchema, settings: ReferenceUpstream.Settings) {
        self.schema = schema
        self.settings = settings
        routes = Routes(schema: schema)
        envelope = Envelope(plan: schema.upstream)
    }

    func answer(
        _ request: Request, _ store: inout Store, _ memory: inout IdempotencyMemory, at now: Timestamp
    ) -> Answer {
        do throws(Refusal) {
            let matches = try routes.matches(method: request.method, path: request.path)
            if case .probe = matches[0].target { return .json(200, .object(["success": true])) }
            try authorize(request)
            guard case .push = matches[0].target else { return try read(matches[0], request, &store) }
            return try remembering(request, &memory) { () throws(Refusal) in
                try PushHandler(handler: self, request: request, now: now).answer(matches, &store)
            }
        } catch {
            return .refusal(error, envelope)
        }
    }

    private func authorize(_ request: Request) throws(Refusal) {
        guard let token = settings.token else { return }
        let given = request.headers[single: "Authorization"]?.split(separator: " ", maxSplits: 1) ?? []
        guard given.count == 2, given[0].lowercased() == "bearer", given[1] == token else { throw .unauthorized }
    }

    // MARK: Reading

    private func read(_ match: Routes.Match, _ request: Request, _ store: inout Store) throws(Refusal) -> Answer {
        switch match.target {
        case .account:
            return .json(
                200, envelope.account(settings.account, at: schema.upstream.account?.id ?? Place(paths: ["id"])))
        case .list(let name):
            guard let entity = schema[name], let plan = entity.pull?.list else { throw .notFound("such path") }
            return try list(entity, plan, where: [], request, &store)
        case .record(let name):
            return try record(name, match.holes, request, &store)
        case .detail(let parent, let child):
            return try detail(parent, child, match.holes, request, &store)
        case .probe, .push:
            throw .notFound("such path")
        }
    }

    private func list(
        _ entity: Entity, _ plan: ListPlan, where fixed: [(name: String, value: String)], _ request: Request,
        _ store: inout Store
    ) throws(Refusal) -> Answer {
        let query = try ListQuery(request.query, entity: entity, settings: settings, list: plan)
        var found = store.select(
            entity.name, where: fixed + query.filters, since: query.since, newestFirst: query.newestFirst,
            page: query.page, size: query.size)
        if let children = EmbeddedChildren(inListOf: entity, store) {
            found.rows = found.rows.map { children.put(into: $0, &store) }
        }
        return .json(200, envelope.list(found.rows, of: plan, page: query.page, size: query.size, total: found.total))
    }

    private func record(
        _ name: String, _ holes: [String: String], _ request: Request, _ store: inout Store
    ) throws(Refusal) -> Answer {
        guard let entity = schema[name] else { throw .notFound("such path") }
        let place = entity.pull?.single.place ?? schema.upstream.record
        guard var record = store.find(entity, where: holes.map { (name: $0.key, value: $0.value) }) else {
            throw .notFound("record \(holes[entity.key] ?? "") in \(name)")
        }
        let tag = EntityTag(of: record)
        if request.headers[all: "If-None-Match"].contains(where: tag.isWeaklyIn) {
            return Answer(status: 304, headers: [("ETag", tag.text)])
        }
        let version = record
        if let children = EmbeddedChildren(inRecordOf: entity, at: place, store) {
            record = children.put(into: record, &store)
        }
        return tagged(.json(200, envelope.record(record, at: place)), version)
    }

    private func detail(
        _ parent: String, _ child: String, _ holes: [String: String], _ request: Request, _ store: inout Store
    ) throws(Refusal) -> Answer {
        guard let above = schema[parent], let entity = schema[child], let plan = above.pull?.detail?.list else {
            throw .notFound("such path")
        }
        let conditions = holes.map { (name: $0.key, value: $0.value) }
        guard let record = store.find(above, where: conditions) else { throw .notFound("such record in \(parent)") }
        guard let link = store.link(from: child, to: parent), let key = record[above.key] else {
            throw .notFound("way from \(parent) to \(child)")
        }
        return try list(entity, plan, where: [(link, key.plain)], request, &store)
    }

    func tagged(_ answer: Answer, _ record: JSONText) -> Answer {
        var answer = answer
        answer.headers.append(("ETag", EntityTag(of: record).text))
        return answer
    }

    // MARK: Writing once

    /// Answers a write that was applied before under its key as it was answered then.
    private func remembering(
        _ request: Request, _ memory: inout IdempotencyMemory, _ write: () throws(Refusal) -> Answer
    ) throws(Refusal) -> Answer {
        guard let name = schema.upstream.idempotencyHeader, let key = request.headers[single: name] else {
            return try write()
        }
        let content = IdempotencyMemory.Content(method: request.method, path: request.path, body: request.body)
        if let known = try memory.recall(key, for: content) { return known }
        let answer = try write()
        memory.remember(key, for: content, answer)
        return answer
    }
}
