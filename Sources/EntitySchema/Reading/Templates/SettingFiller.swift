/// Puts the settings of an installation (`upstream.settings` in the configuration) where a schema names them:
/// `{$setting.tenant}`.
///
/// Done before anything else is read, so a setting may stand in any text of the file and costs nothing later. What it
/// puts there is never read as a template itself.
struct SettingFiller {
    let file: String
    let settings: [String: String]

    private static let opening = "{$setting."

    /// Whether a schema names any.
    static func isNeeded(by yaml: String) -> Bool { yaml.contains(opening) }

    /// `keys` lead to the value.
    func filled(_ value: YAMLValue, _ keys: [String] = []) throws(SchemaError) -> YAMLValue {
        switch value.content {
        case .scalar(let text, let isPlain):
            guard text.contains(Self.opening) else { return value }
            return YAMLValue(.scalar(try filled(text, Place(keys, value.line)), isPlain: isPlain), line: value.line)
        case .sequence(let elements):
            var filled: [YAMLValue] = []
            for (index, element) in elements.enumerated() {
                filled.append(try self.filled(element, keys + [String(index)]))
            }
            return YAMLValue(.sequence(filled), line: value.line)
        case .mapping(let members):
            var filled: [(key: YAMLValue, value: YAMLValue)] = []
            for (key, value) in members { filled.append((key, try self.filled(value, keys + [key.text ?? ""]))) }
            return YAMLValue(.mapping(filled), line: value.line)
        }
    }

    /// Where a text is.
    private struct Place {
        let keys: [String]
        let line: Int?

        init(_ keys: [String], _ line: Int?) {
            self.keys = keys
            self.line = line
        }
    }

    private func filled(_ text: String, _ place: Place) throws(SchemaError) -> String {
        var result = ""
        var rest = text[...]
        while let opening = rest.firstRange(of: Self.opening) {
            let after = rest[opening.upperBound...]
            guard let end = after.firstIndex(of: "}") else { throw error("\(text): a } is missing", place) }
            let name = String(after[..<end])
            result += rest[..<opening.lowerBound] + (try setting(name, place))
            rest = after[after.index(after: end)...]
        }
        return result + rest
    }

    private func setting(_ name: String, _ place: Place) throws(SchemaError) -> String {
        guard let value = settings[name] else {
            let hint = Suggestion.hint(for: name, among: settings.keys.sorted())
            throw error(
                "the setting \(name) is not set\(hint); set upstream.settings.\(name) in the configuration, or add "
                    + "--upstream.setting \(name)=VALUE (demo and generate: --setting \(name)=VALUE)", place)
        }
        guard !value.contains("{"), !value.contains("}") else {
            throw error("the setting \(name) has a brace; expected text without { and }", place)
        }
        return value
    }

    private func error(_ problem: String, _ place: Place) -> SchemaError {
        SchemaError(
            file: file, line: place.line ?? 0, key: place.keys.joined(separator: "."), problem: problem)
    }
}
