internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Serves the API that the schema describes, without faults, log or delays.
struct RequestHandler: Sendable {
    let schema: EntitySchema
    let settings: UpstreamSettings
    let routes: Routes
    let envelope: Envelope
    let feed: SignalFeed

    init(schema: EntitySchema, settings: UpstreamSettings) {
        self.schema = schema
        self.settings = settings
        routes = Routes(schema: schema)
        envelope = Envelope(plan: schema.upstream)
        feed = SignalFeed(schema: schema)
    }

    func entity(_ name: String) throws(Refusal) -> Entity {
        guard let entity = schema[name] else { throw .notFound("entity \(name)") }
        return entity
    }

    func answer(
        _ request: Request, _ store: inout Store, _ memory: inout IdempotencyMemory, _ signIn: inout SignIn?,
        at now: Timestamp
    ) -> Answer {
        do throws(Refusal) {
            let matches = try matches(request)
            if case .probe = matches[0].target { return .json(200, .object(["success": true])) }
            if let answer = try SignInHandler(handler: self, request: request, now: now).answer(matches, &signIn) {
                return answer
            }
            try authorize(request, signIn, at: now)
            if case .logout = matches[0].target {
                signIn?.logOut()
                return .json(200, envelope.parts([]))
            }
            let contents = ContentHandler(handler: self, request: request, now: now)
            switch matches[0].target {
            case .upload(let name, let route):
                return try remembering(request, &memory, now) { () throws(Refusal) in
                    try contents.upload(to: name, route, matches[0].placeholders, &store)
                }
            case .removal(let name, let route):
                return try remembering(request, &memory, now) { () throws(Refusal) in
                    try contents.delete(from: name, route, matches[0].placeholders, &store)
                }
            case .stream(let index): return Answer(status: 200, stream: index)
            case .subscription: return feed.subscribe(request)
            case .events(let index): return feed.events(index, request)
            case .content(let name): return try contents.content(of: name, matches[0].placeholders, store)
            default: break
            }
            guard case .push = matches[0].target else { return try read(matches[0], request, &store, now) }
            return try remembering(request, &memory, now) { () throws(Refusal) in
                try PushHandler(handler: self, request: request, now: now).answer(matches, &store)
            }
        } catch {
            return .refusal(error, envelope)
        }
    }

    /// The possible targets of a request. Where lists and records are asked for by POST, the form of the body decides; where
    /// both lists of an entity are asked for by GET, the query and the headers do.
    func matches(_ request: Request) throws(Refusal) -> [Routes.Match] {
        let matches = try routes.matches(method: request.method, path: request.path)
        guard matches.count > 1 else { return matches }
        guard request.method == "POST" else {
            let query = ChangesQuery(request)
            let changes = matches.filter { match in
                if case .changes(let name) = match.target { query.asks(for: schema[name]?.pull) } else { false }
            }
            return changes.isEmpty ? matches : changes
        }
        let body = try? JSONText(request.body)
        let reads = matches.filter { isRead($0.target, request.headers, body) }
        let writes = matches.filter { if case .push = $0.target { true } else { false } }
        return !reads.isEmpty ? reads : writes.isEmpty ? matches : writes
    }

    private func isRead(_ target: Routes.Target, _ headers: Headers, _ body: JSONText?) -> Bool {
        switch target {
        case .list(let name):
            schema[name]?.pull?.call?.values(in: [], headers, body) != nil
                && !isOfChanges(schema[name]?.pull, headers, body)
        case .changes(let name): isOfChanges(schema[name]?.pull, headers, body)
        case .deletions(let name): schema[name]?.tombstones?.plan.call?.values(in: [], headers, body) != nil
        case .record(let name): body.flatMap { schema[name]?.pull?.single.body?.values(in: $0) } != nil
        default: false
        }
    }

    /// Whether a request for a list is one for what changed, where both lists are asked for at one address.
    private func isOfChanges(_ pull: PullPlan?, _ headers: Headers, _ body: JSONText?) -> Bool {
        guard let pull, let values = pull.changes?.call?.values(in: [], headers, body) else { return false }
        return pull.mode == .newestFirst || values["since"] != nil || values["delta"] != nil
    }

    /// Accepts the fixed token or one from a sign-in; without either configured, everyone may call.
    func authorize(_ request: Request, _ signIn: SignIn?, at now: Timestamp) throws(Refusal) {
        guard settings.token != nil || signIn != nil else { return }
        let place = schema.upstream.tokenPlace
        guard let token = place.token(in: request),
            token == settings.token || signIn?.accepts(token, at: now) == true
        else { throw .unauthorized(place) }
    }

    // MARK: Reading

    private func read(
        _ match: Routes.Match, _ request: Request, _ store: inout Store, _ now: Timestamp
    ) throws(Refusal) -> Answer {
        switch match.target {
        case .account: return .json(200, envelope.account(settings.account, named: settings.accountName))
        case .check: return .json(200, envelope.parts(accountAtCheck))
        case .list(let name):
            return try ListHandler(handler: self, request: request, now: now).list(name, &store)
        case .changes(let name):
            return try ListHandler(handler: self, request: request, now: now).changes(of: name, &store)
        case .deletions(let name):
            return try DeletionHandler(handler: self, request: request, now: now).answer(name, store)
        case .record(let name): return try record(name, match.placeholders, request, &store)
        case .detail(let parent, let child):
            return try ListHandler(handler: self, request: request, now: now).detail(
                parent, child, match.placeholders, &store)
        case .dashboard: return try DashboardHandler(handler: self, request: request, now: now).answer(store)
        case .probe, .push, .content, .upload, .removal, .batch, .login, .refresh, .session, .logout, .stream,
            .subscription, .events:
            throw .notFound("such path")
        }
    }

    /// What names the account to a token that counts.
    var accountAtCheck: [SignIn.Part] {
        (schema.upstream.check?.account).map { [(place: $0, value: .string(settings.account))] } ?? []
    }

    private func record(
        _ name: String, _ placeholders: [String: String], _ request: Request, _ store: inout Store
    ) throws(Refusal) -> Answer {
        guard let entity = schema[name] else { throw .notFound("such path") }
        let place = entity.pull?.single.place ?? schema.upstream.record
        var named = placeholders
        if let form = entity.pull?.single.body, let body = try? JSONText(request.body) {
            for (name, value) in form.values(in: body) ?? [:] { named[name] = value.plain }
        }
        guard var record = store.find(entity, where: named.map { (name: $0.key, value: $0.value) }) else {
            throw .notFound("record \(named[entity.key] ?? "") in \(name)")
        }
        let tag = EntityTag(of: record)
        if request.headers[all: "If-None-Match"].contains(where: tag.isWeaklyIn) {
            return Answer(status: 304, headers: [("ETag", tag.text)])
        }
        let version = record
        record = RecordViews(store: store, entity: entity).single(record)
        for children in EmbeddedChildren.inRecord(of: entity, at: place, store) {
            record = children.put(into: record, &store)
        }
        record = entity.lift?.placed(record) ?? record
        return tagged(.json(200, envelope.record(record, at: place, store)), version)
    }

    func tagged(_ answer: Answer, _ record: JSONText) -> Answer {
        var answer = answer
        answer.headers.append(("ETag", EntityTag(of: record).text))
        return answer
    }

    // MARK: Idempotency

    /// Repeats the first response for a write whose key was applied before.
    private func remembering(
        _ request: Request, _ memory: inout IdempotencyMemory, _ now: Timestamp,
        _ write: () throws(Refusal) -> Answer
    ) throws(Refusal) -> Answer {
        guard let key = idempotencyKey(of: request) else { return try write() }
        let content = IdempotencyMemory.Content(method: request.method, path: request.path, body: request.body)
        if let known = try memory.recall(key, for: content) { return known }
        let answer = try write()
        memory.remember(key, for: content, answer, at: now)
        return answer
    }
}
