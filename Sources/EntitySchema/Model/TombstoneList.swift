/// A list of what was deleted upstream (`pull.deleted`), with paging and a watermark of its own.
package struct TombstoneList: Sendable, Equatable {
    /// How the list is pulled.
    package var plan: PullPlan
    /// Where an entry has the key of the record that was deleted.
    package var key: Place
    /// Where it says when. Nil only for a list that names each deletion once, by tokens.
    package var at: Place?
}
