internal import Configuration

/// The places that a value may come from; the first that has it wins: flags, then environment, then file.
struct ConfigurationLayers {
    struct Value: Equatable {
        var text: String
        /// Where it was set, for a complaint about it.
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
        // A variable that is set to nothing counts as not set, as everywhere in a shell.
        let variables = EnvironmentVariablesProvider(environmentVariables: environment.filter { !$0.value.isEmpty })
        layers = [
            Layer(provider: Self.provider(flags), isFile: false) { "--\($0.flag)" },
            Layer(provider: variables.prefixKeys(with: ["repairminder_sync"]), isFile: false) { $0.variable },
            Layer(provider: Self.provider(file?.values.mapValues(\.text) ?? [:]), isFile: true) {
                file?.place(of: $0) ?? ""
            },
        ]
    }

    /// Nil when no place sets the key.
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
