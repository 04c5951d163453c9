/// Puts fields and settings into the paths of a collection's calls.
struct PathFiller {
    /// What stands for each parameter that names a record above: `{$setting.board}`, `{project_id}`.
    var above: [String: String] = [:]
    /// The members of a record, and the fields that they became.
    let item: DataShape
    let fields: [DraftField]
    let key: String

    /// `list`: the path of the list, whose own parameters come first.
    func call(_ method: String, _ path: PathPattern, list: PathPattern) -> String {
        "\(method) \(self.path(path, list: list))"
    }

    func path(_ path: PathPattern, list: PathPattern) -> String {
        let leading = list.parameters.count
        var position = 0
        return path.filled { parameter in
            defer { position += 1 }
            if position < leading {
                return above[list.parameters[position]] ?? DraftSetting.text(Self.setting(parameter))
            }
            return "{\(field(for: parameter, list: list))}"
        }
    }

    /// The field of a record that a parameter of its path names; the key if nothing else fits.
    func field(for parameter: String, list: PathPattern) -> String {
        guard let name = KeyGuess.property(for: parameter, of: list, in: item) else { return key }
        let found = fields.first { $0.wireName == name && $0.from == nil && $0.isPlain && !$0.isSecret }
        return found?.name ?? key
    }

    static func setting(_ parameter: String) -> String {
        let name = Words.snake(parameter)
        return name.isEmpty ? "value" : String(name.prefix(50))
    }
}
