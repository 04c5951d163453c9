internal import JSONText

/// Checks how an entity is pulled.
extension SchemaCheck {
    func checkPull(_ entity: Entity) throws(SchemaError) {
        guard let pull = entity.pull else {
            if entity.isLocal { return }
            let filled = schema.entities.contains { parent in
                parent.pull?.details.contains { $0.entity == entity.name } ?? false
            }
            guard filled else {
                throw error(entity, "pull", "no request returns these records; add pull: { path: … } or local: true")
            }
            return
        }
        try checkChangeTime(pull, of: entity)
        try checkRequests(pull, of: entity, at: "pull")
        if pull.changes != nil { try checkRequests(pull.ofChanges, of: entity, at: "pull.changes") }
        try check(pull.deleted, of: entity)
        try check(pull.single.body, of: entity, at: "pull.record.body")
        for name in pull.single.path.placeholders { try field(name, of: entity, at: "pull.record.path") }
        if let name = pull.whenChanged { try field(name, of: entity, at: "pull.detail.when_changed") }
        if let name = pull.whenChanged, let source = entity[field: name]?.source, JSONPath.isThroughList(source) {
            throw error(entity, "pull.detail.when_changed", "\(name) goes through a list; name another field, or any")
        }
        for detail in pull.details { try check(detail, of: entity) }
    }

    private func checkRequests(_ pull: PullPlan, of entity: Entity, at place: String) throws(SchemaError) {
        if let size = pull.list.size, pull.query.contains(where: { $0.name == size }), pull.call?.names("size") != true
        {
            throw error(
                entity, "\(place).query",
                "\(size) is what pagination sends, with its page_size (\(pull.list.pageSize)); set that, and leave it out here"
            )
        }
        if pull.call?.names("account") == true, schema.upstream.account == nil {
            throw error(entity, place, "{$account} needs upstream.account, which says who is signed in; add it")
        }
    }

    private func checkChangeTime(_ pull: PullPlan, of entity: Entity) throws(SchemaError) {
        guard let changedAt = pull.changedAt else { return }
        let place = pull.isSince ? "pull.since.field" : "pull.changed_at"
        try field(changedAt, of: entity, at: place)
        switch entity[field: changedAt]?.kind {
        case nil, .time, .string: break
        case .integer where pull.hasNumberedTimes, .number where pull.hasNumberedTimes: break
        case .some(let kind):
            throw error(
                entity, place,
                "\(changedAt) is of type \(kind.description), but change times are compared as times: name a field of "
                    + "type time with times in ISO 8601, set since.format to epoch or epoch_ms if it has such numbers "
                    + "(if requests have another form, write it in the list's query, body or headers, as in "
                    + "{$since:yyyy-MM-dd}, without since.param), or pull with mode: full"
            )
        }
    }

    private func check(_ mark: PullPlan.DeletionMark?, of entity: Entity) throws(SchemaError) {
        guard let mark, let values = mark.values else { return }
        try field(mark.name, of: entity, at: "pull.deleted")
        guard let field = entity[field: mark.name] else { return }
        switch field.kind {
        case .string, .integer, .boolean, .reference: break
        case .enum(let known):
            for value in values where !known.contains(where: { $0.value == value }) {
                let hint = Suggestion.hint(for: value, among: known.map(\.value))
                throw error(entity, "pull.deleted.\(mark.name)", "\(mark.name) has no value \(value)\(hint)")
            }
        case .number, .money, .time, .date, .object, .list:
            throw error(
                entity, "pull.deleted", "\(mark.name) must be of type string, enum, boolean, integer or reference")
        }
        guard !field.isDerivedHere else {
            throw error(entity, "pull.deleted", "\(mark.name) is computed here; the upstream must say what is deleted")
        }
    }

    private func check(_ detail: PullPlan.Detail, of entity: Entity) throws(SchemaError) {
        let child = try self.entity(detail.entity, for: entity, at: "pull.detail.into")
        guard !child.isLocal else {
            throw error(
                entity, "pull.detail.into",
                "\(child.name) is local only, so nothing is pulled into it; name another entity")
        }
        guard child.fields.contains(where: { $0.kind == .reference(to: entity.name) }) else {
            throw error(
                entity, "pull.detail.into", "\(child.name) needs a field of type reference to \(entity.name)")
        }
        for name in detail.path?.placeholders ?? [] { try field(name, of: entity, at: "pull.detail.path") }
    }
}
