internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Serves one page of a list of deletions (`pull.deleted`), oldest first.
struct DeletionHandler {
    let handler: RequestHandler
    let request: Request
    let now: Timestamp

    func answer(_ name: String, _ store: Store) throws(Refusal) -> Answer {
        guard let entity = handler.schema[name], let list = entity.tombstones else { throw .notFound("such path") }
        if store.state.chance(of: .failingTombstones) {
            store.note(.failingTombstones)
            throw Refusal(status: 503, code: "unavailable", message: "the list of deletions is out of order")
        }
        let query = try ListQuery(
            request, entity: entity, pull: list.plan, plan: list.plan.list, order: .arrival,
            constants: list.plan.query, largestPage: handler.settings.largestPage)
        let (all, version) = shown(store.deletions(of: name), store, store.version(of: name))
        let asked = try DeltaMark(query.delta, of: name, store, now)
        let found = all.filter { deletion in
            if let asked { return deletion.version > asked.version }
            if case .changes(let since) = query.window.order { return deletion.at >= since }
            return true
        }
        let rest = rest(of: found, after: query.window.start)
        let page = rest.prefix(query.window.size)
        let isLast = page.count == rest.count
        let next = isLast ? nil : page.last.map { ListMark(changed: nil, key: $0.key.plain, position: $0.version) }
        let rows = page.map { entry($0, list) }
        var delta: (place: Place, value: String)?
        if isLast, let token = list.plan.deltaToken {
            // Oldest first, so that nothing up to now was missed between the pages, unless they are counted.
            let isCounted = query.isCounted && !query.isFirst
            let mark = DeltaMark(version: isCounted ? asked?.version ?? 0 : version, madeAt: now)
            delta = (token.place, query.delta(mark.token, token.form))
        }
        return ListAnswer(handler: handler, request: request, plan: list.plan.list, query: query).answer(
            rows, total: found.count, next: next, delta: delta)
    }

    /// What a replica shows that may be behind and remembers only the last deletions, and the version up to which it has
    /// all.
    private func shown(
        _ all: [Table.Deletion], _ store: Store, _ version: Int
    ) -> (shown: [Table.Deletion], version: Int) {
        let habits = store.habits
        guard !store.state.emptiesLists else { return ([], version) }
        let hidden = habits.time(.laggingTombstones).flatMap { lag in all.first { $0.at > now - lag } }
        if hidden != nil { store.note(.laggingTombstones) }
        var shown = all.prefix { $0.version < hidden?.version ?? .max }
        if let time = habits.time(.forgottenTombstones) {
            let count = shown.count
            shown = shown.filter { $0.at > now - time }[...]
            if shown.count < count { store.note(.forgottenTombstones) }
        }
        return (Array(shown), hidden.map { $0.version - 1 } ?? version)
    }

    private func rest(of found: [Table.Deletion], after start: ListWindow.Start) -> ArraySlice<Table.Deletion> {
        switch start {
        case .skipping(let count): found.dropFirst(count)
        case .after(let mark): found.drop { $0.version <= mark.position }
        case .afterKey(let key): found.drop { $0.key.plain != key }.dropFirst()
        }
    }

    private func entry(_ deletion: Table.Deletion, _ list: TombstoneList) -> JSONText {
        let time = list.at.map { [(path: Envelope.path($0), value: JSONText.string(deletion.at.description))] }
        let marks = list.marks.filter { !$0.isExcluded }.compactMap { mark in
            mark.values.compactMap(\.self).first.map { (path: Envelope.path(mark.place), value: JSONText.string($0)) }
        }
        return Envelope.tree([(Envelope.path(list.key), deletion.key)] + (time ?? []) + marks)
    }
}
