/// Checks the routes that send a record's content as a part of their body (`file`).
struct FileRouteCheck {
    let entity: Entity
    /// Makes the error for a place in the entity.
    let error: (_ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        try checkCreation()
        for (place, routes) in [("push.update", entity.push.update), ("push.delete", entity.push.delete)]
        where routes.contains(where: { $0.file != nil }) {
            throw error(
                place,
                "file is only allowed in push.create and content.upload, the requests that send content; remove it")
        }
        for route in entity.push.create { try check(route, at: "push.create") }
        if let upload = entity.content?.upload { try check(upload, at: "content.upload") }
    }

    /// Whether a queued creation needs content must not depend on the values of its fields, which may still change.
    private func checkCreation() throws(SchemaError) {
        guard entity.isCreatedWithContent else { return }
        guard entity.content != nil else {
            throw error(
                "push.create",
                "file sends a record's content, and \(entity.name) have none; add content, such as "
                    + "content: { types: [image/jpeg] }")
        }
        guard entity.push.create.allSatisfy({ $0.file != nil }) else {
            throw error("push.create", "either every route has file or none does; correct the others")
        }
    }

    private func check(_ route: PushRoute, at place: String) throws(SchemaError) {
        guard let part = route.file else { return }
        guard route.method != "DELETE" else {
            throw error(place, "a DELETE carries no content; use POST, PUT or PATCH, or remove file")
        }
        guard route.envelope == nil, route.encoding == .plain, route.body.map({ $0.flat != nil }) ?? true else {
            throw error(place, "with file the body is a form of parts; remove encoding, and write body as names")
        }
        guard route.wireNames?.contains(part) != true else {
            throw error(place, "the part \(part) has the content, so no field can be sent under this name")
        }
    }
}
