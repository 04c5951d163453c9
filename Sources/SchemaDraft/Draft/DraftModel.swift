/// A whole draft, before it is written as YAML.
struct DraftModel: Sendable {
    /// Letters, digits, `-` and `_`.
    var name: String
    var title: String
    /// What it was made of: `OpenAPI 3.0.3, 41 lists`.
    var origin: String
    var upstream: DraftUpstream
    var entities: [DraftEntity]
    var leftOut: [LeftOut] = []

    subscript(name: String) -> DraftEntity? { entities.first { $0.name == name } }

    /// The settings that an installation must give, once each.
    var settings: [String] {
        let headers = upstream.headers.flatMap { DraftSetting.names(in: $0.value.value) }
        return (headers + entities.flatMap(\.settings)).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

/// A list that the draft does not have, and why.
package struct LeftOut: Sendable, Equatable {
    package enum Why: String, Sendable {
        /// Its objects have nothing that identifies them.
        case noKey
        /// It is no list of records: a document with several tables, or one record that contains lists.
        case noList
        /// The document does not say what it answers.
        case unsaid
        /// It is asked for by POST.
        case posted
        /// There is one for each value of the last name in its path.
        case chosen
        /// Another list has the same records.
        case sameRecords
        /// The daemon would refuse it.
        case refused
        /// The caller did not ask for it.
        case notAsked
        /// The schema has enough without it.
        case tooMany
    }

    package var path: String
    package var why: Why
    package var reason: String
}
