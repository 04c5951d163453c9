/// Checks that what is said about keys made here fits the routes of a creation.
struct KeyFormCheck {
    let entity: Entity
    /// Makes the error for a place in the entity.
    let error: (_ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        guard let form = entity.keyForm else { return }
        guard entity[field: entity.key]?.kind == .string || form == .server else {
            throw error("key", "keys of this form are text, and \(entity.key) is not of type string; correct one")
        }
        guard form == .server else { return }
        for route in entity.push.create {
            if route.path.placeholders.contains(entity.key) {
                throw error("push.create", "the path has the key, which the upstream makes; correct call or key.made")
            }
            if route.lookUp == .key {
                throw error(
                    "push.create", "look_up by the key finds nothing, because the upstream makes it; use match")
            }
        }
    }
}
