internal import Configuration

/// The sources of a value in order of precedence: flags, then environment variables, then the file.
struct ConfigurationLayers {
    struct Value: Equatable {
        var text: String
        /// Where it was set, for error messages.
        var place: String
        var isFromFile: Bool
    }

    private let layers: [Layer]

    private struct Layer {
        var provider: any ConfigProvider
        var isFile: Bool
        var place: (ConfigurationKey) -> String
    }

    init(flags: [ConfigurationKey: String], environment: [String: String], file: ConfigurationFile?) {
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
        for layer in layers {
            let found = try? layer.provider.value(forKey: AbsoluteConfigKey(key.components), type: .string).value
            if case .string(let text)? = found?.content {
                return Value(text: text, place: layer.place(key), isFromFile: layer.isFile)
            }
        }
        return nil
    }

    private static func provider(_ values: [ConfigurationKey: String]) -> InMemoryProvider {
        let pairs = values.map {
            (AbsoluteConfigKey($0.key.components), ConfigValue(.string($0.value), isSecret: false))
        }
        return InMemoryProvider(values: Dictionary(uniqueKeysWithValues: pairs))
    }
}
