internal import JSONText

/// Names a record where the engine remembers something of it.
struct RecordName: Hashable, Sendable {
    let entity: String
    private let exactKey: ExactText

    init(entity: String, key: String) {
        self.entity = entity
        exactKey = key.exact
    }

    var key: String { exactKey.text }
}
