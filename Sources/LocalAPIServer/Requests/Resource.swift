internal import EntitySchema
internal import SocketServer

/// What answers at one address: a handler for each method it takes.
struct Resource {
    typealias Handler = (Request) async throws -> Response

    /// The entity whose schema decides which methods there are; nil where nothing does.
    let entity: String?
    private var handlers: [(method: String, handler: Handler)] = []

    init(of entity: String? = nil) {
        self.entity = entity
    }

    subscript(method: String) -> Handler? { handlers.first { $0.method == method }?.handler }

    /// For `Allow`.
    var methods: [String] { handlers.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] } }

    func on(_ method: String, _ handler: @escaping Handler) -> Resource {
        var resource = self
        resource.handlers.append((method, handler))
        return resource
    }
}

extension LocalAPIServer {
    /// The table of addresses; nil where there is nothing.
    func resource(at segments: [String]) throws(Problem) -> Resource? {
        if segments.count == 1 { return healthResource(segments[0]) }
        guard segments[0] == "v1" else { return nil }
        switch segments.count {
        case 2:
            if let resource = fixedResource(segments[1]) { return resource }
            return records(of: try entity(segments[1]))
        case 3:
            if let resource = fixedResource(segments[1], segments[2]) { return resource }
            return try one(segments[1], segments[2])
        case 4:
            if let resource = decision(segments) { return resource }
            if let resource = try content(segments) { return resource }
            return try related(segments)
        default: return nil
        }
    }

    private func healthResource(_ name: String) -> Resource? {
        switch name {
        case "": Resource().on("GET") { _ in try await statusPage() }
        case "style.css": Resource().on("GET") { _ in StatusPage.styleSheet }
        case "healthz": Resource().on("GET") { _ in .text("alive\n") }
        case "metrics": Resource().on("GET") { _ in try await metricsText() }
        case "readyz": Resource().on("GET") { _ in try ready() }
        case "openapi.json": Resource().on("GET") { _ in try openAPI() }
        default: nil
        }
    }

    private func fixedResource(_ name: String) -> Resource? {
        switch name {
        case "status": Resource().on("GET") { _ in try await status() }
        case "sync": Resource().on("POST", sync)
        case "pending": Resource().on("GET", pending)
        case "conflicts": Resource().on("GET", conflicts)
        case "drift": Resource().on("GET", drift)
        case "changes": Resource().on("GET", changes)
        case "events": Resource().on("GET", events)
        case "search": Resource().on("GET", search)
        case "reminders": Resource().on("GET") { request in try reminders(request) }
        case "dashboard": Resource().on("GET", dashboard)
        default: nil
        }
    }

    private func fixedResource(_ name: String, _ second: String) -> Resource? {
        switch (name, second) {
        case ("sync", "pause"): Resource().on("POST") { _ in try await pause() }
        case ("sync", "resume"): Resource().on("POST") { _ in try await resume() }
        case ("pending", "count"): Resource().on("GET", pendingCount)
        case ("pending", "retry"): Resource().on("POST") { request in try await retry(nil, request) }
        case ("reminders", let id): Resource().on("GET") { _ in try reminder(id) }
        case ("conflicts", let id): Resource().on("GET") { _ in try conflict(id) }
        case ("pending", let id):
            Resource()
                .on("GET") { _ in try pendingChange(id) }
                .on("PATCH") { request in try await correct(id, request) }
                .on("DELETE") { request in try await discard(id, request) }
        default: nil
        }
    }

    /// What people decide about one change, conflict or reminder.
    private func decision(_ segments: [String]) -> Resource? {
        let id = segments[2]
        switch (segments[1], segments[3]) {
        case ("pending", "retry"): return Resource().on("POST") { request in try await retry(id, request) }
        case ("conflicts", "resolve"): return Resource().on("POST") { request in try await resolve(id, request) }
        case ("conflicts", "undo"): return Resource().on("POST") { request in try await undo(id, request) }
        case ("reminders", "dismiss"):
            return Resource().on("POST") { request in try await dismissReminder(id, request) }
        case ("reminders", "snooze"): return Resource().on("POST") { request in try await snoozeReminder(id, request) }
        default: return nil
        }
    }

    private func records(of entity: Entity) -> Resource {
        let resource = Resource(of: entity.name).on("GET") { request in try await list(entity, request) }
        guard entity.operations.contains(.create) else { return resource }
        return resource.on("POST") { request in try await create(entity, request) }
    }

    private func one(_ name: String, _ key: String) throws(Problem) -> Resource {
        let entity = try entity(name)
        var resource = Resource(of: entity.name).on("GET") { request in
            if let secrets = try revealed(entity, key, request) { return secrets }
            return try await get(entity, key, request)
        }
        if entity.operations.contains(.update) {
            resource = resource.on("PATCH") { request in try await update(entity, key, request) }
        }
        if entity.operations.contains(.delete) {
            resource = resource.on("DELETE") { request in try await delete(entity, key, request) }
        }
        return resource
    }

    /// What a record has besides its fields.
    private func content(_ segments: [String]) throws(Problem) -> Resource? {
        guard ["content", "thumbnail"].contains(segments[3]) else { return nil }
        let (entity, key) = (try entity(segments[1]), segments[2])
        guard entity.content != nil else { throw .notFound("\(entity.name) are fields alone; they have no content") }
        if segments[3] == "content" { return contentResource(entity, key) }
        return Resource().on("GET") { request in try await thumbnail(of: entity, key, request) }
    }

    private func related(_ segments: [String]) throws(Problem) -> Resource {
        let entity = try entity(segments[1])
        if segments[3] == "history" {
            return Resource().on("GET") { request in try history(of: entity, segments[2], request) }
        }
        guard let relation = entity[relation: segments[3]] else {
            let known = entity.relations.map(\.name).joined(separator: ", ")
            throw .notFound(
                "\(entity.name) have no \(segments[3]); they have \(known.isEmpty ? "no relations" : known)")
        }
        let other = try self.entity(relation.entity)
        let resource = Resource().on("GET") { request in try await list(relation, of: entity, segments[2], request) }
        guard case .many(let field, _) = relation.kind, other.operations.contains(.create) else { return resource }
        return resource.on("POST") { request in
            try await create(other, request, referring: field, to: segments[2], of: entity)
        }
    }
}
