internal import EntitySchema

/// Finds the member that identifies a record.
struct KeyGuess {
    let shapes: ShapeReader

    /// Names of keys, the likeliest first, without what differs between spellings.
    private static let names = ["id", "uuid", "guid", "key", "uid", "sid", "pk", "slug", "code", "name", "number"]
    /// After all of these: they identify people and files in lists that have nothing better.
    private static let lastNames = ["username", "login", "email", "filename", "domain", "path", "ref"]

    static func isKeyName(_ name: String) -> Bool { names.contains(Words.folded(name)) }

    /// `record`: the path of one record, whose last parameter is its key.
    func key(of item: DataShape, at list: PathPattern, record: PathPattern?) -> Guess<String>? {
        let parameter = record?.parameters.last
        let own = parameter.flatMap { Self.property(for: $0, of: list, in: item) }
        if let own, isKey(own, of: item) {
            return Guess(own, "\(record?.text ?? "") names a record by it")
        }
        for name in Self.names.prefix(7) {
            if let found = member(name, of: item) { return Guess(found, "its name") }
        }
        for name in Self.qualified(list) {
            if let found = member(name, of: item) { return Guess(found, "it is named after the list") }
        }
        for name in Self.names.dropFirst(7) + Self.lastNames[...] {
            if let found = member(name, of: item),
                list.parameters.isEmpty || record != nil || item.required.contains(found)
            {
                return Guess(found, "a guess by its name: check that it differs for each record")
            }
        }
        return onlyID(of: item)
    }

    /// What the reason for a missing key is.
    static func missing(_ item: DataShape) -> String {
        let names = item.properties.prefix(6).map(\.name).joined(separator: ", ")
        return names.isEmpty
            ? "the document does not say what its records have"
            : "nothing identifies its records (\(names)\(item.properties.count > 6 ? ", …" : ""))"
    }

    /// Whether the object at a path is a record itself.
    static func hasOwnKey(_ answer: DataShape, of path: PathPattern, _ shapes: ShapeReader) -> Bool {
        answer.properties.contains { property in
            guard
                ["id", "uuid", "guid", "sid"].contains(Words.folded(property.name)) || isNamed(property.name, in: path)
            else { return false }
            return [.string, .integer].contains(shapes.shape(of: property).kind)
        }
    }

    private static func isNamed(_ name: String, in path: PathPattern) -> Bool {
        path.parameters.contains { folded($0) == folded(name) }
    }

    private static func folded(_ name: String) -> String { Words.folded(name) }

    // MARK: Parameters of paths

    /// The member of a record that a parameter of its path names: `{customerID}`, `{index_name}`, `{project_name_or_id}`.
    static func property(for parameter: String, of list: PathPattern, in item: DataShape) -> String? {
        let all = Words.snake(parameter)
        if let found = item.properties.first(where: { folded($0.name) == folded(parameter) }) { return found.name }
        let stems = stems(of: list)
        for word in all.split(separator: "_or_").map(String.init) + [all] {
            // `{customer}` may be its id or its name.
            let rest = stems.lazy.compactMap { word.hasPrefix($0 + "_") ? String(word.dropFirst($0.count + 1)) : nil }
                .first
            for name in [rest ?? word, rest == nil && word != "id" ? nil : word].compactMap(\.self) {
                if let found = item.properties.first(where: { folded($0.name) == folded(name) }) { return found.name }
            }
        }
        return nil
    }

    /// What names in a list are prefixed with: `order` for `/orders`.
    private static func stems(of list: PathPattern) -> [String] {
        let words = list.segments.filter { !$0.contains("{") }.suffix(2).map(Words.snake)
        return words.reversed().flatMap { word -> [String] in
            let singular = Words.singular(word)
            let short = singular.split(separator: "_").last.map { Words.singular(String($0)) }
            return [singular, word, short].compactMap(\.self)
        }
    }

    /// `order_id`, `order_uuid`, … for `/orders`.
    private static func qualified(_ list: PathPattern) -> [String] {
        stems(of: list).prefix(3).flatMap { stem in ["id", "uuid", "sid", "key", "guid"].map { folded(stem + $0) } }
    }

    // MARK: Members

    private func member(_ name: String, of item: DataShape) -> String? {
        item.properties.first { Words.folded($0.name) == name && isKey($0.name, of: item) }?.name
    }

    /// The only member whose name ends like that of a key.
    private func onlyID(of item: DataShape) -> Guess<String>? {
        let found = item.properties.filter { property in
            ["id", "uuid", "sid", "guid", "key"].contains(Words.lastWord(of: property.name))
                && isKey(property.name, of: item)
        }
        guard found.count == 1, let only = found.first else { return nil }
        return Guess(only.name, "the only member with such a name: check that it differs for each record")
    }

    private func isKey(_ name: String, of item: DataShape) -> Bool {
        guard FieldNames.isAllowed(name), let property = item[name] else { return false }
        let shape = shapes.shape(of: property)
        switch shape.kind {
        case .string: return !["date", "date-time", "binary"].contains(shape.format ?? "")
        case .integer, .unknown, .number: return true
        case .boolean, .object, .array: return false
        }
    }
}
