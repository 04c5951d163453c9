/// Checks the routes that send a record's content as a part of their body (`file`).
struct FileRouteCheck {
    let schema: EntitySchema
    /// Makes the error for an entity at a place in the file.
    let error: (Entity, _ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        for entity in schema.entities {
            try checkCreation(of: entity)
            for (place, routes) in [("push.update", entity.push.update), ("push.delete", entity.push.delete)]
            where routes.contains(where: { $0.file != nil }) {
                throw error(
                    entity, place,
                    "file is only allowed in push.create and content.upload, the requests that send content; remove it")
            }
            for route in entity.push.create { try check(route, of: entity, at: "push.create") }
            if let upload = entity.content?.upload { try check(upload, of: entity, at: "content.upload") }
        }
    }

    /// Whether a queued creation needs content must not depend on the values of its fields, which may still change.
    private func checkCreation(of entity: Entity) throws(SchemaError) {
        guard entity.isCreatedWithContent else { return }
        guard entity.content != nil else {
            throw error(
                entity, "push.create",
                "file sends a record's content, and \(entity.name) have none; add content, such as "
                    + "content: { types: [image/jpeg] }")
        }
        guard entity.push.create.allSatisfy({ $0.file != nil }) else {
            throw error(entity, "push.create", "either every route has file or none does; correct the others")
        }
    }

    private func check(_ route: PushRoute, of entity: Entity, at place: String) throws(SchemaError) {
        guard let part = route.file else { return }
        guard route.method != "DELETE" else {
            throw error(entity, place, "a DELETE carries no content; use POST, PUT or PATCH, or remove file")
        }
        guard route.envelope == nil, route.encoding == .plain, route.body.map({ $0.flat != nil }) ?? true else {
            throw error(
                entity, place, "with file the body is a form of parts; remove encoding, and write body as names")
        }
        guard route.wireNames?.contains(part) != true else {
            throw error(entity, place, "the part \(part) has the content, so no field can be sent under this name")
        }
    }
}
