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
        return try page(of: entity, pull, &store)
    }

    /// Its list of what changed.
    func changes(of name: String, _ store: inout Store) throws(Refusal) -> Answer {
        guard let entity = handler.schema[name], let pull = entity.pull else { throw .notFound("such path") }
        return try page(of: entity, pull.ofChanges, &store)
    }

    private func page(of entity: Entity, _ pull: PullPlan, _ store: inout Store) throws(Refusal) -> Answer {
        let isSorted = pull.mode == .newestFirst && pull.changes == nil
        return try page(of: entity, pull.list, order: isSorted ? .newestFirst : .arrival, pull: pull, &store)
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
        return try page(of: entity, plan, where: [(link, key.plain)], order: .arrival, &store)
    }

    private func page(
        of entity: Entity, _ plan: ListPlan, where fixed: [(name: String, value: String)] = [],
        order: ListWindow.Order, pull: PullPlan? = nil, _ store: inout Store
    ) throws(Refusal) -> Answer {
        var query = try ListQuery(
            request, entity: entity, pull: pull, plan: plan, order: order, constants: pull?.query ?? [],
            largestPage: handler.settings.largestPage)
        let asked = try DeltaMark(query.delta, of: entity.name, store, now)
        if let asked { query.window.order = .versions(after: asked.version) }
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
        var delta: (place: Place, value: String)?
        if found.next == nil, let token = pull?.deltaToken {
            let mark = DeltaMark(version: reached(found, asked, query), madeAt: now)
            delta = (token.place, query.delta(mark.token, token.form))
        }
        var next = found.next
        if pull?.deltaToken != nil { next?.began = query.mark?.began ?? found.version }
        return ListAnswer(handler: handler, request: request, plan: plan, query: query).answer(
            found.rows, total: found.total, next: next, delta: delta)
    }

    /// The version up to which a reading of the whole list, or of what changed, has shown everything at its last page.
    ///
    /// What changed comes in the order of the changes, so only the last page counts. A whole list may have changed behind
    /// its reader: what counts is when the first page was read. A page number does not say when that was, so it gets
    /// the changes again.
    private func reached(_ found: Table.Selection, _ asked: DeltaMark?, _ query: ListQuery) -> Int {
        if query.isFirst { return found.version }
        if query.isCounted { return asked?.version ?? 0 }
        return asked == nil ? query.mark?.began ?? 0 : found.version
    }
}
