internal import CacheStore
internal import EntitySchema
internal import JSONText

/// When no request can be made of a change.
extension Pusher {
    /// Says why; the address may need a value of another record.
    func unsendable(_ change: OutboxChange, _ entity: Entity) throws -> PushFailure {
        let missing = entity.missingPathFields(for: change.operation, record: change.address)
        for name in missing {
            guard let far = entity.far(name), let key = entity.value(of: far.reference, in: change.address)?.plain,
                !key.isEmpty
            else { continue }
            let isCached = try store.record(far.entity, key: key) != nil
            return PushFailure(
                .unsendable,
                message: "\(far.entity)/\(key) "
                    + (isCached
                        ? "has no \(far.field), which the address needs; set it, then retry"
                        : "is not cached, and the address needs its \(far.field); read it, then retry"))
        }
        if let name = missing.first {
            return PushFailure(
                .unsendable,
                message:
                    "the record has no \(name), which the address needs, and reading it brought none; correct the "
                    + "schema and retry, or discard this change")
        }
        if let name = entity.strayPathField(for: change.operation, record: change.address) {
            return PushFailure(
                .unsendable,
                message:
                    "the record's \(name) would lead the address to another place; correct it and retry, or discard "
                    + "this change")
        }
        let stray = change.body.members.map(\.key).filter { !entity.canSend($0, by: change.operation) }
        let lacking =
            stray.isEmpty
            ? "the schema has no route for this change"
            : "no route of the schema sends \(stray.joined(separator: ", "))"
        let fields = stray.count > 1 ? "them" : "it"
        return PushFailure(
            .unsendable, message: "\(lacking); add \(fields) to the schema and retry, or discard this change")
    }
}
