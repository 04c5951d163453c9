internal import EntitySchema
internal import SocketServer

/// Every call that a schema says its upstream has.
struct Routes: Sendable {
    enum Target: Sendable {
        case account
        case probe
        case login(LoginWay, step: Int)
        case refresh
        case session(SignInCall)
        case check
        case logout
        case dashboard
        case list(entity: String)
        case changes(entity: String)
        case deletions(entity: String)
        case record(entity: String)
        case detail(parent: String, child: String)
        case push(entity: String, Operation, PushRoute)
        case content(entity: String)
        case upload(entity: String, PushRoute)
        case removal(entity: String, PushRoute)
        case batch(BatchPlan, [BatchHandler.Candidate])
        /// A source of signals, by its place in the schema.
        case stream(Int)
        case events(Int)
        case subscription
    }

    struct Match {
        var target: Target
        /// The values of the path's placeholders, decoded.
        var placeholders: [String: String]
    }

    private struct Route {
        var method: String
        var path: [Template.Part]
        var target: Target
    }

    private let routes: [Route]

    init(schema: EntitySchema) {
        var routes = [Self.get(schema.upstream.probe, .probe)]
        if let account = schema.upstream.account { routes.append(Self.get(account.path, .account)) }
        routes += Self.signIn(schema.upstream)
        if let path = schema.dashboard?.path { routes.append(Self.get(path, .dashboard)) }
        for entity in schema.entities {
            if let pull = entity.pull {
                routes.append(Self.list(pull, .list(entity: entity.name)))
                if pull.changes != nil { routes.append(Self.list(pull.ofChanges, .changes(entity: entity.name))) }
                if let deleted = entity.tombstones {
                    routes.append(Self.list(deleted.plan, .deletions(entity: entity.name)))
                }
                if pull.single.isServed {
                    let path = pull.single.path.parts
                    routes.append(
                        Route(method: pull.single.method, path: path, target: .record(entity: entity.name)))
                }
                for detail in pull.details {
                    guard let path = detail.path else { continue }
                    let target = Target.detail(parent: entity.name, child: detail.entity)
                    routes.append(Route(method: "GET", path: Self.withoutQuery(path), target: target))
                }
            }
            for operation in Operation.allCases {
                routes += entity.routes(for: operation).map { route in
                    Route(
                        method: route.method, path: Self.withoutQuery(route.path),
                        target: .push(entity: entity.name, operation, route))
                }
            }
        }
        self.routes =
            routes + schema.entities.flatMap(Self.contents) + Self.batches(of: schema)
            + Self.signals(schema.upstream)
    }

    /// One for each path, however many push routes share it.
    private static func batches(of schema: EntitySchema) -> [Route] {
        var plans: [BatchPlan] = []
        var candidates: [String: [BatchHandler.Candidate]] = [:]
        for entity in schema.entities {
            for operation in Operation.allCases {
                for route in entity.routes(for: operation) {
                    guard let plan = route.batch, let element = plan.elements[operation] else { continue }
                    if !plans.contains(where: { $0.call == plan.call }) { plans.append(plan) }
                    let candidate = BatchHandler.Candidate(
                        entity: entity.name, operation: operation, route: route, element: element)
                    candidates[plan.call, default: []].append(candidate)
                }
            }
        }
        return plans.map { plan in
            Route(
                method: plan.method, path: [.text(plan.path)], target: .batch(plan, candidates[plan.call] ?? []))
        }
    }

    /// Content is served at its own path and where it is uploaded, or else below its record.
    private static func contents(of entity: Entity) -> [Route] {
        guard let plan = entity.content else { return [] }
        var routes: [Route] = []
        let own = [plan.path, plan.upload?.path].compactMap(\.?.parts)
        let below = (entity.pull?.single.path.parts).map { [$0 + [.text("/content")]] } ?? []
        for path in own.isEmpty ? below : own {
            routes.append(Route(method: "GET", path: path, target: .content(entity: entity.name)))
        }
        if let upload = plan.upload {
            let target = Target.upload(entity: entity.name, upload)
            routes.append(Route(method: upload.method, path: upload.path.parts, target: target))
        }
        if let delete = plan.delete {
            let target = Target.removal(entity: entity.name, delete)
            routes.append(Route(method: delete.method, path: delete.path.parts, target: target))
        }
        return routes
    }

    private static func signals(_ plan: UpstreamPlan) -> [Route] {
        plan.signals.enumerated().flatMap { index, source -> [Route] in
            switch source.kind {
            case .stream(let stream):
                let subscription = stream.subscription.map {
                    Route(method: $0.method, path: [.text($0.path)], target: .subscription)
                }
                return [get(stream.path, .stream(index))] + (subscription.map { [$0] } ?? [])
            case .events(let events): return [get(events.path, .events(index))]
            case .webhook: return []
            }
        }
    }

    private static func signIn(_ plan: UpstreamPlan) -> [Route] {
        var routes = plan.login.flatMap { way in
            way.steps.enumerated().map { Self.post($1.path, .login(way, step: $0)) }
        }
        if let refresh = plan.refresh, refresh.path.hasPrefix("/") { routes.append(Self.post(refresh.path, .refresh)) }
        if let call = plan.session, !call.isElsewhere { routes.append(Self.post(call.address, .session(call))) }
        if let check = plan.check {
            routes.append(Route(method: check.method, path: [.text(check.path)], target: .check))
        }
        if let path = plan.logout { routes.append(Self.post(path, .logout)) }
        return routes
    }

    private static func list(_ plan: PullPlan, _ target: Target) -> Route {
        let parts = plan.call?.path?.parts.map { part -> Template.Part in
            switch part {
            case .text(let text): .text(text)
            case .placeholder(let placeholder): .placeholder(placeholder.source)
            }
        }
        return Route(method: plan.call?.method ?? "GET", path: parts ?? [.text(plan.path)], target: target)
    }

    /// Only the path decides which call a request is.
    private static func withoutQuery(_ path: Template) -> [Template.Part] {
        Template(String(path.source.prefix { $0 != "?" }))?.parts ?? path.parts
    }

    private static func post(_ path: String, _ target: Target) -> Route {
        Route(method: "POST", path: [.text(path)], target: target)
    }

    private static func get(_ path: String, _ target: Target) -> Route {
        Route(method: "GET", path: [.text(path)], target: target)
    }

    /// The possible targets of a request, in the schema's order; more than one when routes differ only in their
    /// conditions.
    ///
    /// `path` is still percent-encoded. A path without placeholders is preferred to one with them.
    func matches(method: String, path: String) throws(Refusal) -> [Match] {
        let method = method == "HEAD" ? "GET" : method
        let fitting = routes.compactMap { route in
            Self.placeholders(in: path[...], of: route.path[...]).map { (route: route, placeholders: $0) }
        }
        guard let fewest = fitting.map(\.placeholders.count).min() else { throw .notFound("such path") }
        let nearest = fitting.filter { $0.placeholders.count == fewest }
        let allowed = nearest.filter { $0.route.method == method }
        guard !allowed.isEmpty else {
            let methods = Set(nearest.map(\.route.method))
            throw .method(method, allowed: (methods.contains("GET") ? methods.union(["HEAD"]) : methods).sorted())
        }
        return allowed.map { Match(target: $0.route.target, placeholders: $0.placeholders) }
    }

    /// The placeholders' values when `path` matches the template; nil when it does not. A placeholder never spans a
    /// slash.
    private static func placeholders(in path: Substring, of parts: ArraySlice<Template.Part>) -> [String: String]? {
        switch parts.first {
        case nil: return path.isEmpty ? [:] : nil
        case .text(let text):
            guard path.hasPrefix(text) else { return nil }
            return placeholders(in: path.dropFirst(text.count), of: parts.dropFirst())
        case .placeholder(let name):
            var filling = path.prefix { $0 != "/" }
            while !filling.isEmpty {
                if var found = placeholders(in: path[filling.endIndex...], of: parts.dropFirst()) {
                    found[name] = PercentCoding.decode(filling)
                    return found[name] == nil ? nil : found
                }
                filling = filling.dropLast()
            }
            return nil
        }
    }
}
