/// Names a record where the engine remembers something of it.
struct RecordName: Hashable, Sendable {
    var entity: String
    var key: String
}
