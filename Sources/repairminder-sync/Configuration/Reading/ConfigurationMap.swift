import EntitySchema

/// A configuration key whose value is a mapping of names that the schema chooses.
enum ConfigurationMap: String, CaseIterable, Sendable {
    case settings = "upstream.settings"
    case secrets = "upstream.secrets"

    /// The long flag for one name, without its dashes; it may be given several times.
    var flag: String {
        switch self {
        case .settings: "upstream.setting"
        case .secrets: "upstream.secret"
        }
    }

    /// The beginning of the environment variables, before the name: `REPAIRMINDER_SYNC_UPSTREAM_SETTINGS_`.
    var variablePrefix: String {
        ConfigurationKey.variablePrefix + rawValue.replacing(".", with: "_").uppercased() + "_"
    }
}

/// The values of all maps from flags, environment and file; for each name, the first source that has it counts.
struct ConfigurationMaps {
    /// `NAME=VALUE`, as given with the flag.
    var flags: [ConfigurationMap: [String]]
    var variables: [String: String]
    var file: ConfigurationFile?

    func values(of map: ConfigurationMap) throws(ConfigurationError) -> [String: ConfigurationLayers.Value] {
        var values: [String: ConfigurationLayers.Value] = [:]
        func add(_ name: String, _ value: ConfigurationLayers.Value) throws(ConfigurationError) {
            try Self.check(name, value.place)
            guard !value.text.isEmpty else {
                throw ConfigurationError(place: value.place, problem: "the value of \(name) is empty; expected text")
            }
            if values[name] == nil { values[name] = value }
        }
        for text in flags[map] ?? [] {
            let place = "--\(map.flag)"
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                throw ConfigurationError(place: place, problem: "\"\(text)\" is not valid; expected NAME=VALUE")
            }
            try add(parts[0], ConfigurationLayers.Value(text: parts[1], place: place, isFromFile: false))
        }
        for (variable, text) in variables.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(map.variablePrefix) && !text.isEmpty {
            let name = variable.dropFirst(map.variablePrefix.count).lowercased()
            try add(name, ConfigurationLayers.Value(text: text, place: variable, isFromFile: false))
        }
        for (name, value) in file?.maps[map] ?? [:] {
            let place = file?.place(of: map, name) ?? ""
            try add(name, ConfigurationLayers.Value(text: value.text, place: place, isFromFile: true))
        }
        return values
    }

    private static func check(_ name: String, _ place: String) throws(ConfigurationError) {
        guard ValueTemplate.isStoredName(name) else {
            throw ConfigurationError(
                place: place, problem: "\"\(name)\" cannot be a name; expected lower-case letters, digits and _")
        }
    }
}
