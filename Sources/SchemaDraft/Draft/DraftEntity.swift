/// A collection as the draft describes it.
struct DraftEntity: Sendable {
    /// A parameter that every page is asked for with.
    struct Query: Sendable, Equatable {
        var name: String
        var values: [String]
        /// What stands between several values; nil if the parameter is repeated.
        var separator: String?
        var reason: String?

        /// What is sent, once for each time that the parameter stands in the address.
        var sent: [String] { separator.map { [values.joined(separator: $0)] } ?? values }
    }

    /// What is pulled, for an entity with a list of its own.
    struct Pull: Sendable {
        var path: Guess<String>
        /// Parameters of every page.
        var query: [Query] = []
        /// Empty for the answer itself.
        var records: Guess<String>
        var paging: Guess<DraftPaging>
        var since: Guess<Since>?
        var deleted: Guess<Mark>?
        var single: Single
    }

    /// What says that a record is deleted: a field, with this value if not with any.
    struct Mark: Sendable {
        var field: String
        var value: String?
    }

    struct Since: Sendable, Equatable {
        /// The parameter, or the header, with the time.
        var parameter: String
        var isHeader = false
        var field: String
        var format: String?
        /// What is sent, if that has more than the time: `gte.{$since}`.
        var value: String?
    }

    enum Single: Sendable, Equatable {
        /// The upstream serves no single records.
        case none
        /// It may serve them; a TODO says at which path.
        case unclear
        /// `at`: place of the record in the answer, nil for the answer itself.
        case path(String, at: String?)
    }

    /// A list below each record of another entity.
    struct Below: Sendable {
        var parent: String
        /// With fields of the parent in braces.
        var path: String
        var records: Guess<String>
        var paging: Guess<DraftPaging>
    }

    var name: String
    /// What the document calls it, for the comment above.
    var origin: String
    /// The document does not say what its list answers: that was seen.
    var isSeen = false
    var key: Guess<String>
    /// Where the text is that ends with the key, if records have it only there.
    var keyLink: String?
    /// The places of the values that identify a record only together; empty if one does.
    var keyParts: [String] = []
    /// `server`, if the upstream makes the keys.
    var keyMade: Guess<String>?
    var title: String?
    var fields: [DraftField]
    /// Nil if it comes with its parent.
    var pull: Pull?
    var below: Below?
    var create: DraftRoute?
    var update: DraftRoute?
    /// What sends fields that `update` does not.
    var otherUpdate: DraftRoute?
    var delete: DraftRoute?
    /// What is missing, each with the key to set.
    var todos: [String] = []

    subscript(field: String) -> DraftField? { fields.first { $0.name == field } }

    /// What identifies a record below the one above it: the last of several parts, or the key.
    var ownKey: String { keyParts.last ?? key.value }

    /// That of its list, as the document has it.
    var path: String { String(origin.drop { $0 != "/" }) }

    /// The settings of the installation that it names.
    var settings: [String] {
        var texts = [pull?.path.value, below?.path].compactMap(\.self) + (pull?.query.flatMap(\.values) ?? [])
        if case .path(let path, _)? = pull?.single { texts.append(path) }
        for route in [create, update, otherUpdate, delete].compactMap(\.self) {
            texts.append(route.call)
            if case .match(_, let path?)? = route.lookUp { texts.append(path) }
        }
        return texts.flatMap(DraftSetting.names)
    }
}

/// A value that the document leaves open, which each installation sets.
enum DraftSetting {
    static func text(_ name: String) -> String { "{$setting.\(name)}" }

    static func names(in text: String) -> [String] {
        text.split(separator: "{$setting.", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            part.firstIndex(of: "}").map { String(part[..<$0]) }
        }
    }
}
