internal import EntitySchema
internal import JSONText

/// Finds the member that identifies a record.
struct KeyGuess {
    let shapes: ShapeReader
    /// The names in the document's paths, in the singular and folded: what other records are called.
    var others: Set<String> = []
    /// The records were seen, and one was read by its key if there is a path for it.
    var isObserved = false

    /// Names of keys, the likeliest first, without what differs between spellings.
    private static let names = ["id", "pk", "sysid", "uuid", "guid", "key", "gid", "uid", "sid"]
    /// After these, and after what is named like the list.
    private static let weakNames = ["slug", "code", "name", "number"]
    /// After all of these: they identify people and files in lists that have nothing better.
    private static let lastNames = ["username", "login", "email", "filename", "domain", "path", "ref"]

    /// Whether a member of that name is certainly a key.
    static func isCertain(_ name: String) -> Bool { names.contains(Words.folded(name)) }

    /// Whether records below two others may have the same value there: each task has a variable of that name.
    static func mayRepeat(_ name: String) -> Bool {
        (["key"] + weakNames + lastNames).contains(Words.folded(name))
    }

    static func isKeyName(_ name: String) -> Bool { (names + weakNames).contains(Words.folded(name)) }

    /// `record`: the name of a record in its path, which is mostly its key. `hasOther`: that name was found to be no member
    /// of a record, so that a member which only ends like a key is one of another record.
    func key(
        of item: DataShape, at list: PathPattern, record: PathParameter?, hasOther: Bool = false
    ) -> Guess<String>? {
        func said(_ name: String?) -> Guess<String>? {
            guard let name, isKey(name, of: item) else { return nil }
            return Guess(
                name,
                isObserved ? "a record was read by it" : "{\(record?.name ?? "")} in the path of a record names it")
        }
        if let own = said(record?.direct) { return own }
        if let marked = RowFilters.primaryKey(of: item, shapes).first(where: { isKey($0, of: item) }) {
            return Guess(marked, "the document marks it as the primary key")
        }
        for name in Self.names {
            if let found = member(name, of: item), isLikely(found, of: item, record) { return Guess(found, "its name") }
        }
        if let own = said(record?.member(key: nil)) { return own }
        let own = Self.lastNames.filter { $0 == Self.own(list) }
        for name in Self.qualified(list) + own {
            if let found = member(name, of: item) { return Guess(found, "it is named after the list") }
        }
        for name in Self.qualified(item.name ?? "") {
            if let found = member(name, of: item) { return Guess(found, "it is named after the kind of its records") }
        }
        for name in hasResourceName(item) ? [] : Self.weakNames + Self.lastNames {
            if let found = member(name, of: item), isLikely(found, of: item, record),
                record != nil || (list.parameters.isEmpty ? !belongs(item, list) : item.required.contains(found))
            {
                return Guess(found, "a guess by its name: check that it differs for each record")
            }
        }
        return hasOther ? nil : onlyID(of: item, list)
    }

    /// Names repeat, unless a path or the document says that each record has one.
    private func isLikely(_ name: String, of item: DataShape, _ record: PathParameter?) -> Bool {
        !["key", "name"].contains(Words.folded(name)) || record != nil || item.required.contains(name)
    }

    /// Whether a record names one of another list: the values that customers have for a field have the field's name once for
    /// each customer.
    private func belongs(_ item: DataShape, _ list: PathPattern) -> Bool {
        let own = Set(PathParameter.stems(of: list, last: 2).map(Words.folded))
        return item.properties.contains { property in
            let words = Words.parts(of: property.name)
            let stem = Words.folded(words.dropLast().joined())
            return words.last == "id" && others.contains(stem) && !own.contains(stem)
                && shapes.shape(of: property).isTextOrNumber
        }
    }

    /// What the reason for a missing key is.
    func missing(_ item: DataShape) -> String {
        if let place = elsewhere(item) {
            return "its records have their key in another place: write it with key: { field: id, from: \(place) }"
        }
        let names = item.properties.prefix(6).map(\.name).joined(separator: ", ")
        return names.isEmpty
            ? "the document does not say what its records have"
            : "nothing identifies its records (\(names)\(item.properties.count > 6 ? ", …" : ""))"
    }

    /// Where a record may have its key, as the schema says it.
    private func elsewhere(_ item: DataShape) -> String? {
        if hasResourceName(item) { return "{ link: name }" }
        return Lift.usualKeys.first { key in
            guard let path = key.source.paths.first else { return false }
            let shape = shapes.shape(at: JSONPath.steps(path).map(String.init), in: item)
            return shape.map { [.string, .integer].contains($0.kind) } ?? false
        }?.text
    }

    /// Whether the object at a path is a record itself.
    static func hasOwnKey(_ answer: DataShape, of path: PathPattern, _ shapes: ShapeReader) -> Bool {
        answer.properties.contains { property in
            guard
                ["id", "uuid", "guid", "gid", "sid"].contains(Words.folded(property.name))
                    || isNamed(property.name, in: path)
            else { return false }
            return [.string, .integer].contains(shapes.shape(of: property).kind)
        }
    }

    private static func isNamed(_ name: String, in path: PathPattern) -> Bool {
        path.parameters.contains { Words.folded($0) == Words.folded(name) }
    }

    // MARK: Names after the list

    /// `order_id`, `order_uuid`, … for `/orders`.
    private static func qualified(_ list: PathPattern) -> [String] {
        PathParameter.stems(of: list, last: 2).prefix(3).flatMap { stem in
            ["id", "uuid", "sid", "key", "guid"].map { Words.folded(stem + $0) }
        }
    }

    /// Words after the name of what a schema describes.
    private static let schemaWords: Set = [
        "dto", "response", "model", "view", "json", "read", "out", "resource", "entity", "schema", "summary",
    ]

    /// `custom_field_id` for records that the document calls `CustomField` or `shop.CustomFieldResponse`.
    private static func qualified(_ kind: String) -> [String] {
        var words = Words.parts(of: kind.split(separator: ".").last.map(String.init) ?? "")
        while let last = words.last, schemaWords.contains(last) { words.removeLast() }
        let stem = Words.folded(words.joined())
        return stem.isEmpty ? [] : ["id", "uuid", "sid", "guid"].map { stem + $0 }
    }

    /// `email` for `/emails`.
    private static func own(_ list: PathPattern) -> String {
        Words.folded(PathParameter.stems(of: list, last: 1).first ?? "")
    }

    // MARK: Members

    private func member(_ name: String, of item: DataShape) -> String? {
        item.properties.first { Words.folded($0.name) == name && isKey($0.name, of: item) }?.name
    }

    /// The only member whose name ends like that of a key, unless it is the key of something else.
    private func onlyID(of item: DataShape, _ list: PathPattern) -> Guess<String>? {
        let found = item.properties.filter { property in
            ["id", "uuid", "sid", "guid"].contains(Words.lastWord(of: property.name))
                && isKey(property.name, of: item)
        }
        guard found.count == 1, let only = found.first else { return nil }
        let stem = Words.parts(of: only.name).dropLast().joined()
        guard !others.contains(stem) || Self.own(list) == stem, !isOfAnyKind(stem, item),
            !Self.otherRecords.contains(stem) || Words.folded(item.name ?? "") == stem
        else { return nil }
        return Guess(only.name, "the only member with such a name: check that it differs for each record")
    }

    /// Whether a name is a path to the record. In an address the whole of it would stand for the last part.
    private static func isResourceName(_ name: String, _ shape: DataShape) -> Bool {
        Words.folded(name) == "name" && LinkedKey.path(named: shape) != nil
    }

    private func hasResourceName(_ item: DataShape) -> Bool {
        item["name"].map { Self.isResourceName($0.name, shapes.shape(of: $0)) } == true
    }

    private static let anyKinds: Set = [
        "object", "entity", "resource", "subject", "target", "source", "owner", "record", "reference", "related",
        "parent", "item", "model",
    ]

    /// What a record calls another one, whatever that is: each line of a ledger has an `entity_id`.
    private static let otherRecords: Set = ["entity", "subject", "target", "source", "owner", "related", "parent"]

    /// Whether a member has the key of a record of any list, which another member names: `objectId` beside `objectType`.
    private func isOfAnyKind(_ stem: String, _ item: DataShape) -> Bool {
        (Self.anyKinds.contains(stem) || stem.hasSuffix("able"))
            && item.properties.contains { Words.folded($0.name) == Words.folded(stem + "type") }
    }

    private func isKey(_ name: String, of item: DataShape) -> Bool {
        guard FieldNames.isAllowed(name), let property = item[name] else { return false }
        let shape = shapes.shape(of: property)
        switch shape.kind {
        case .string:
            return !["date", "date-time", "binary"].contains(shape.format ?? "") && !Self.isResourceName(name, shape)
        case .integer, .unknown, .number: return true
        case .boolean, .object, .array: return false
        }
    }
}
