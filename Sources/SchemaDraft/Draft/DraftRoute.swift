/// How a change of a drafted entity is sent.
struct DraftRoute: Sendable, Equatable {
    /// `PATCH /orders/{id}`, with fields in braces.
    var call: String
    /// The fields that it can send; nil for any.
    var fields: [String]?
    /// What stands around the fields.
    var body: Body = .plain
    /// The body takes a list of records, and gets one of one.
    var isInList = false
    /// Members of the body beside the fields.
    var beside: [Constant] = []
    /// The member that has the record's key, if an update or a deletion sends it.
    var keyMember: String?
    /// That member takes a list of keys: a deletion sends a list with only one.
    var isKeyInList = false
    /// A PUT that changes only what it names.
    var isPartial = false
    /// A POST that may replace the record, as a PUT does.
    var isWhole = false
    /// Other names of fields on the wire.
    var names: [(wire: String, field: String)] = []
    /// `form`, or a media type; nil for JSON.
    var encoding: String?
    /// Where the answer has the record, if that is not the answer itself.
    var record: String?
    var lookUp: LookUp?
    var reason: String?

    struct Constant: Sendable, Equatable {
        var name: String
        var value: String
    }

    enum Body: Sendable, Equatable {
        case plain
        /// Inside the member of this name.
        case inside(String)
        /// A resource of JSON:API, of this type.
        case resource(type: String, hasID: Bool)
    }

    enum LookUp: Sendable, Equatable {
        case key
        /// `path`: the list to search, where the entity has none of its own.
        case match([String], path: String?)
    }

    static func == (one: DraftRoute, other: DraftRoute) -> Bool {
        one.call == other.call && one.fields == other.fields && one.body == other.body && one.isInList == other.isInList
            && one.beside == other.beside && one.keyMember == other.keyMember && one.isKeyInList == other.isKeyInList
            && one.isPartial == other.isPartial && one.isWhole == other.isWhole
            && one.encoding == other.encoding && one.record == other.record && one.lookUp == other.lookUp
            && one.names.map(\.wire) == other.names.map(\.wire)
    }
}
