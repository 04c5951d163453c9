/// Puts fields and settings into the paths of a collection's calls.
struct PathFiller {
    /// What stands for each parameter that names a record above: `{$setting.board}`, `{project_id}`.
    var above: [String: String] = [:]
    /// The members of a record, and the fields that they became.
    let item: DataShape
    let fields: [DraftField]
    let key: String
    let shapes: ShapeReader
    /// What the document says about the names in the paths, those of a record before those of its list.
    let parameters: [APIOperation.Parameter]

    /// `list`: the path of the list, whose own parameters come first.
    func call(_ method: String, _ path: PathPattern, list: PathPattern) -> String {
        "\(method) \(self.path(path, list: list))"
    }

    func path(_ path: PathPattern, list: PathPattern) -> String {
        let leading = Self.leading(path, list)
        var position = 0
        return path.filled { parameter in
            defer { position += 1 }
            if position < leading {
                // The path of a record may have another name for it than that of the list.
                return self.above[list.parameters[position]] ?? DraftSetting.text(Self.setting(position, of: list))
            }
            return "{\(field(for: parameter, list: list) ?? key)}"
        }
    }

    /// Whether each name in the path of a record has its field. With the value of another one, a request would reach
    /// another record.
    func fills(_ path: PathPattern, list: PathPattern) -> Bool {
        path.parameters.dropFirst(Self.leading(path, list)).allSatisfy { field(for: $0, list: list) != nil }
    }

    /// How many names of the path are those of its list; a record may have a path that does not begin like that.
    private static func leading(_ path: PathPattern, _ list: PathPattern) -> Int {
        let above = list.segments.lastIndex { $0.contains("{") }.map { list.segments[...$0] } ?? []
        let isBelow = PathPattern.form(path.segments.prefix(above.count)) == PathPattern.form(above)
        return isBelow ? list.parameters.count : 0
    }

    /// The field of a record that a parameter of its path names; nil if that is not clear.
    func field(for name: String, list: PathPattern) -> String? {
        let said = PathParameter.said(name, in: parameters)
        let parameter = PathParameter(name: name, said: said, list: list, item: item, shapes: shapes)
        guard let member = parameter.member(key: key) else { return nil }
        if member == key { return key }
        let places = [nil, member, "attributes.\(member)"]
        return fields.first { $0.wireName == member && places.contains($0.from) && $0.isPlain && !$0.isSecret }?.name
    }

    /// The setting for one of the names in a path. An `{id}` or the like is called after what stands before it: `project_id`.
    static func setting(_ position: Int, of path: PathPattern) -> String {
        let name = path.parameters[position]
        var before = 0
        for (index, segment) in path.segments.enumerated() {
            before += PathPattern.parameters(segment).count
            guard before > position else { continue }
            let noun = index > 0 ? path.segments[index - 1] : ""
            guard KeyGuess.isKeyName(name), !noun.isEmpty, !noun.contains("{") else { break }
            return setting("\(Words.singular(Words.snake(noun)))_\(name)")
        }
        return setting(name)
    }

    static func setting(_ parameter: String) -> String {
        let name = Words.snake(parameter)
        return name.isEmpty ? "value" : String(name.prefix(50))
    }
}
