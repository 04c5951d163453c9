import Configuration

/// The sources of a value in order of precedence: flags, then environment variables, then the files.
struct ConfigurationLayers {
    struct Value: Equatable {
        var text: String
        /// Where it was set, for error messages.
        var place: String
        var isFromFile: Bool
    }

    private let layers: [Layer]
    private let file: ConfigurationFile?

    private struct Layer {
        var provider: any ConfigProvider
        var isFile: Bool
        var place: (ConfigurationKey) -> String
    }

    init(flags: [ConfigurationKey: String], environment: [String: String], file: ConfigurationFile?) {
        self.file = file
        // An empty variable counts as not set.
        let variables = EnvironmentVariablesProvider(environmentVariables: environment.filter { !$0.value.isEmpty })
        layers = [
            Layer(provider: Self.provider(flags), isFile: false) { "--\($0.flag)" },
            Layer(provider: variables.prefixKeys(with: ["repairminder_sync"]), isFile: false) { $0.variable },
            Layer(provider: Self.provider(file?.values.mapValues(\.text) ?? [:]), isFile: true) {
                file?.place(of: $0) ?? ""
            },
        ]
    }

    /// Nil when no source sets the key.
    subscript(key: ConfigurationKey) -> Value? {
        for layer in layers { if let value = Self.value(of: key, in: layer) { return value } }
        return nil
    }

    /// Everything that sets the key, first what counts.
    func all(_ key: ConfigurationKey) -> [Value] {
        layers.compactMap { Self.value(of: key, in: $0) }
            + (file?.overridden[key] ?? []).map {
                Value(text: $0.text, place: "\($0.source): \(key.rawValue)", isFromFile: true)
            }
    }

    private static func value(of key: ConfigurationKey, in layer: Layer) -> Value? {
        let found = try? layer.provider.value(forKey: AbsoluteConfigKey(key.components), type: .string).value
        guard case .string(let text)? = found?.content else { return nil }
        return Value(text: text, place: layer.place(key), isFromFile: layer.isFile)
    }

    private static func provider(_ values: [ConfigurationKey: String]) -> InMemoryProvider {
        let pairs = values.map {
            (AbsoluteConfigKey($0.key.components), ConfigValue(.string($0.value), isSecret: false))
        }
        return InMemoryProvider(values: Dictionary(uniqueKeysWithValues: pairs))
    }
}
