/// The kinds of answers in which a server shows a record; each may have other members of it.
package enum RecordView: String, Sendable, Hashable, CaseIterable {
    /// A page of the entity's list.
    case list
    /// The record's own address.
    case single
    /// Inside its parent's record, or in the list of its parent's children.
    case embedded
    /// The answer to a change.
    case answer
}
