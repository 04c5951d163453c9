/// Finds changes in a long list, each in the same short time, as they were at another time.
///
/// Two are the same if they have one idempotency key, or the same id, time and entity: a change can get another key.
struct KnownChanges {
    private struct Place: Hashable {
        var id: Int64
        var createdAt: Int64
        var entity: String

        init(_ change: ExportedChange) {
            id = change.id
            createdAt = change.createdAt
            entity = change.entity
        }
    }

    private var byKey: [String: Int] = [:]
    private var byPlace: [Place: Int] = [:]

    init(_ changes: [ExportedChange]) {
        for (index, change) in changes.enumerated().reversed() {
            byKey[OutboxChange.original(change.idempotencyKey)] = index
            byPlace[Place(change)] = index
        }
    }

    /// The index of the first of the changes that is the same; nil if none is.
    func index(of change: ExportedChange) -> Int? {
        let found = [byKey[OutboxChange.original(change.idempotencyKey)], byPlace[Place(change)]]
        return found.compactMap(\.self).min()
    }
}
