/// How many records a pull may delete because it did not see them: an upstream that suddenly shows only half of what it
/// has is more likely broken than right.
struct DeletionGuard: Equatable {
    /// Of an entity's records, 0 to 1.
    var share: Double
    /// Entities for which a person has confirmed whatever it is.
    var confirmed: Set<String> = []

    /// Nine may always go, so that small lists need no confirmation.
    func allowance(of entity: String, rows: Int) -> Int {
        guard !confirmed.contains(entity) else { return .max }
        return max(9, Int(share * Double(rows)))
    }
}
