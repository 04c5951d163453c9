/// Where the answer of a call has a list of objects.
struct ListAnswer: Sendable {
    /// Names of members from the answer to the list; empty for the answer itself.
    var names: [String]
    /// The member of each element that is the record itself, as `entry` in `{"entry": {…}}`.
    var wrapper: String?
    /// A record.
    var item: DataShape
    /// The whole answer.
    var answer: DataShape

    /// In the notation of a schema; nil for names that cannot stand there.
    var place: String? { PlaceText.joined(names + (wrapper.map { ["*", $0] } ?? [])) }
}
