/// Checks that what is said of an entity's requests fits a key, and references, that are read from other places.
struct LiftCheck {
    let entity: Entity
    /// Makes the error for a place in the entity.
    let error: (_ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        guard let lift = entity.lift else { return }
        for field in entity.fields where field.isDerivedHere && field.link != nil {
            throw error(
                "fields.\(field.name)", "\(field.name) is computed here, so it is read from no link; remove from")
        }
        guard let source = lift.members.first(where: { $0.name == entity.key })?.source else { return }
        guard !entity.isLocal else {
            throw error("key.from", "a local-only entity comes from no upstream; remove from")
        }
        if case .parts = source { try checkParts() }
        if source == .name { try checkNames() }
        for route in entity.push.create where route.envelope?.names.contains(entity.key) == true {
            throw error("push.create", "the body has the key, which the upstream makes; remove it")
        }
    }

    /// A key of several parts exists only here.
    private func checkParts() throws(SchemaError) {
        guard entity[field: entity.key]?.kind == .string else {
            throw error("key", "a key of several parts is text; make \(entity.key) of type string")
        }
        if let single = entity.pull?.single, single.isServed,
            (single.path.placeholders + (single.body?.names ?? [])).contains(entity.key)
        {
            throw error(
                "pull.record",
                "\(single.path.source) has the key, which is made here of several parts; write a path with these fields, or "
                    + "record: none")
        }
        let reading = (entity.pull?.details ?? []).compactMap(\.path) + [entity.content?.path].compactMap(\.self)
        for path in reading where path.placeholders.contains(entity.key) {
            throw error(
                "key.from",
                "\(path.source) has the key, which is made here of several parts; write these fields into it")
        }
        let content = [entity.content?.upload, entity.content?.delete].compactMap(\.self)
        for (place, routes) in [("push", entity.push.routes), ("content", content)] {
            for route in routes where Self.names(of: route).contains(entity.key) {
                throw error(
                    place,
                    "\(route.call) has the key, which is made here of several parts; write these fields into it instead"
                )
            }
        }
    }

    private static func names(of route: PushRoute) -> [String] {
        route.path.placeholders + (route.envelope?.names ?? []) + (route.body?.fields ?? []) + (route.fields ?? [])
            + (route.batch?.fieldNames ?? [])
    }

    private func checkNames() throws(SchemaError) {
        guard entity[field: entity.key]?.kind == .string else {
            throw error("key", "a name is text; make \(entity.key) of type string")
        }
        try checkNames(in: entity.pull?.list, at: "pull.records")
        try checkNames(in: entity.pull?.changes?.list, at: "pull.changes.records")
    }

    private func checkNames(in list: ListPlan?, at place: String) throws(SchemaError) {
        guard let list, !list.records.paths.contains(where: { $0 == "*" || $0.hasSuffix(".*") }) else { return }
        throw error(
            place,
            "from: $name takes the names of an object's members, so records must end with *, such as contacts.* or \"*\""
        )
    }
}
