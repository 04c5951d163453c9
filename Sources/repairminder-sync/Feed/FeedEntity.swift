import JSONText

/// What the feed knows of an entity of the daemon's schema: the fields that it feeds, and what it must not.
struct FeedEntity: Equatable {
    struct Field: Equatable {
        var name: String
        /// Where a record has the value if it has no member of that name.
        var source: String?
        var type: FeedType
    }

    var name: String
    /// The field that identifies a record.
    var key: String
    /// In the order of the schema, without the key, and without secret and sealed ones.
    var fields: [Field]
    /// The places of sealed values, which a record shows to callers and the daemon stores only encrypted.
    var sealed: [[JSONPlaces.Step]]

    /// `document` is as `/v1/schema` has it; nil if it is no entity.
    init?(_ document: JSONText) {
        guard let name = document["name"]?.string, let key = document["key"]?.string else { return nil }
        self.name = name
        self.key = key
        let all = document["fields"]?.elements ?? []
        fields = all.compactMap { field in
            guard let name = field["name"]?.string, name != key, field["secret"]?.boolean != true,
                field["sealed"]?.boolean != true
            else { return nil }
            return Field(
                name: name, source: field["from"]?.string, type: FeedType(field: field["type"]?.string ?? ""))
        }
        sealed = all.filter { $0["sealed"]?.boolean == true }.flatMap { field in
            [[.member(field["name"]?.string ?? "")]] + (field["from"]?.string.map { [Self.steps($0)] } ?? [])
        }
    }

    private static func steps(_ path: String) -> [JSONPlaces.Step] {
        JSONPath.steps(path).map { step in
            step == "*" || Int(step) != nil || step.contains("=") ? .elements : .member(String(step))
        }
    }

    /// The record as it is fed: without what the local API adds, and without sealed values.
    func fed(_ record: JSONText) -> JSONText {
        let own = record.without("_sync")
        guard !sealed.isEmpty else { return own }
        return own.replacing(JSONPlaces(sealed)) { _, _ in nil }
    }

    func id(of record: JSONText) -> String { PostgresText.clean(record[key]?.plain ?? "") }
}
