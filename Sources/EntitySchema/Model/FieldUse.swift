extension EntitySchema {
    /// What reads a field to address, order or tell apart records on their way; nil where nothing does.
    func use(of field: String, in entity: Entity) -> String? {
        if entity.orderWithin == field { return "order_within" }
        if case .field(field, _)? = upstream.version { return "upstream.version" }
        if let pull = entity.pull {
            if pull.changedAt == field { return "the change time" }
            if pull.deleted == field { return "pull.deleted" }
            if pull.single.path.placeholders.contains(field) { return "pull.record" }
            if let detail = pull.detail,
                detail.whenChanged == field || detail.path?.placeholders.contains(field) == true
            {
                return "pull.detail"
            }
        }
        let contents = [entity.content?.upload, entity.content?.delete].compactMap(\.self)
        for route in entity.push.create + entity.push.update + entity.push.delete + contents {
            if route.path.placeholders.contains(field) || route.conditions[field] != nil {
                return "the path or condition of a push"
            }
            if case .match(_, let path, _, _) = route.lookUp, path.placeholders.contains(field) { return "look_up" }
        }
        return nil
    }
}
