/// Limits how many records may be deleted at once without asking for each: an upstream that suddenly shows half of its
/// records is more likely broken than right. Every path that deletes asks it.
struct DeletionGuard: Equatable {
    /// Of an entity's records, 0 to 1.
    var share: Double
    /// Entities for which a person has confirmed all deletions.
    var confirmed: Set<String> = []

    /// The most records that may go because a list lacks them. There is no minimum.
    func allowance(of entity: String, rows: Int) -> Int {
        confirmed.contains(entity) ? .max : Int(share * Double(rows))
    }

    /// The most records that may go because the upstream marks them as deleted. A few always may.
    func tombstones(of entity: String, rows: Int) -> Int { max(9, allowance(of: entity, rows: rows)) }
}
