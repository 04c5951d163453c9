import JSONText
import LocalAPI

/// What the daemon's schema says of an entity, as far as commands need it.
struct EntityShape {
    let document: JSONText
    /// The fields that records have at other places.
    private let moved: [(name: String, place: String)]

    init(of entity: String, _ client: LocalAPIClient) async throws(LocalAPIError) {
        self.init(try await client.get(LocalAPIPaths.schema(of: entity)).body ?? .null)
    }

    init(_ document: JSONText) {
        self.document = document
        moved = (document["fields"]?.elements ?? []).compactMap { field in
            field["name"]?.string.flatMap { name in field["from"]?.string.map { (name, $0) } }
        }
    }

    var fields: [JSONText] { document["fields"]?.elements ?? [] }

    /// The field that identifies a record.
    var key: String { document["key"]?.string ?? "id" }

    /// The fields by which people know a record, such as an order's number.
    var naturalKeys: [String] { names { $0["natural"]?.boolean == true } }

    /// What lists are sorted by unless the caller says otherwise.
    var sort: String { document["sort"]?.string ?? "" }

    /// The fields that a change may set.
    var updatable: [String] { document["update"]?.elements.compactMap(\.string) ?? [] }

    /// The fields that a new record may set.
    var creatable: [String] { document["create"]?.elements.compactMap(\.string) ?? [] }

    func names(where isWanted: (JSONText) -> Bool) -> [String] {
        fields.filter(isWanted).compactMap { $0["name"]?.string }
    }

    func field(_ name: String) -> JSONText? { fields.first { $0["name"]?.string == name } }

    /// The record with each field under its own name, also one that it has at another place (`from`).
    func named(_ record: JSONText) -> JSONText {
        guard !moved.isEmpty else { return record }
        let known = Set(record.members.map(\.key))
        let members = moved.filter { !known.contains($0.name) }.compactMap { name, place in
            record.at(path: place).map { (key: name, value: $0) }
        }
        return record.setting(.object(members: members))
    }

    /// The values of an enum; empty for any other field.
    func values(of name: String) -> [String] {
        field(name)?["values"]?.elements.compactMap { $0["value"]?.plain } ?? []
    }
}
