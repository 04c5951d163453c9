/// How far an instance has been fed: the row that is written with each batch, in its transaction.
struct FeedPosition: Equatable {
    /// The cache that the number belongs to.
    var epoch: String
    /// The number of the last entry of the change log that is in the tables.
    var sequence: Int
    /// What the tables were filled by: another schema of the daemon, or other entities, need a snapshot.
    var shape: String
}
