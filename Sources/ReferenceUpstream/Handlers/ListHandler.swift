internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Serves one page of a list, in the schema's paging style.
struct ListHandler {
    let handler: RequestHandler
    let request: Request
    let now: Timestamp

    /// An entity's own list.
    func list(_ name: String, _ store: inout Store) throws(Refusal) -> Answer {
        guard let entity = handler.schema[name], let pull = entity.pull else { throw .notFound("such path") }
        return try page(
            of: entity, pull.list, order: pull.mode == .newestFirst ? .newestFirst : .arrival, constants: pull.query,
            &store)
    }

    /// The records of `child` that belong to one of `parent`.
    func detail(
        _ parent: String, _ child: String, _ placeholders: [String: String], _ store: inout Store
    ) throws(Refusal) -> Answer {
        let schema = handler.schema
        guard let above = schema[parent], let entity = schema[child],
            let plan = above.pull?.details.first(where: { $0.entity == child })?.list
        else {
            throw .notFound("such path")
        }
        let conditions = placeholders.map { (name: $0.key, value: $0.value) }
        guard let record = store.find(above, where: conditions) else { throw .notFound("such record in \(parent)") }
        guard let link = store.link(from: child, to: parent), let key = record[above.key] else {
            throw .notFound("way from \(parent) to \(child)")
        }
        return try page(of: entity, plan, where: [(link, key.plain)], order: .arrival, constants: [], &store)
    }

    private func page(
        of entity: Entity, _ plan: ListPlan, where fixed: [(name: String, value: String)] = [],
        order: ListWindow.Order, constants: [QueryItem], _ store: inout Store
    ) throws(Refusal) -> Answer {
        let query = try ListQuery(
            request, entity: entity, plan: plan, order: order, constants: constants,
            largestPage: handler.settings.largestPage)
        let habits = ListHabits(store: store, entity: entity, now: now)
        let isWhole = fixed.isEmpty && query.filters.isEmpty
        var found = store.select(
            entity.name, where: fixed + query.filters, window: habits.changed(query.window, isWhole: isWhole))
        habits.noteTombstones(found) { store.select(entity.name, where: fixed + query.filters, window: query.window) }
        found = habits.changed(found, query.window, isWhole: isWhole)
        for children in EmbeddedChildren.inList(of: entity, store) {
            found.rows = found.rows.map { children.put(into: $0, &store) }
        }
        found.rows = habits.broken(found.rows)
        let next = found.next.map(query.next)
        var answer = Answer.json(
            200, handler.envelope.list(found.rows, of: plan, query, total: found.total, next: next))
        // With the host, if the caller sent one, because most upstreams write whole addresses.
        let origin = request.headers[single: "Host"].map { "http://\($0)" } ?? ""
        switch plan.style {
        case .link:
            if let next { answer.headers.append(("Link", "<\(origin)\(next)>; rel=\"next\"")) }
        case .headerURL(let name): if let next { answer.headers.append((name, "\(origin)\(next)")) }
        case .header(let name, _): answer.headers.append((name, next ?? ""))
        case .page, .offset, .cursor, .lastRecord, .nextURL, .single: break
        }
        return answer
    }
}
