/// Remembers when requests were over, for a budget that goes on after a restart.
package protocol RequestJournal: Sendable {
    /// A request is about to be sent. Returns its number for `answered`.
    func sent() -> Int
    func answered(_ number: Int)
}
