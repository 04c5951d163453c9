import CacheStore

/// A value in effect, and where it was set.
struct ConfigurationOrigin: Equatable {
    /// As in the file, such as `sync.interval`.
    var key: String
    var value: String
    /// A file with line, a flag, or an environment variable.
    var source: String
    /// What it replaces, the nearest first, each as `VALUE (SOURCE)`.
    var insteadOf: [String] = []
}

extension ConfigurationReader {
    /// Every value that is no default: keys, names of mappings, and hooks.
    func origins() throws(ConfigurationError) -> [ConfigurationOrigin] {
        var origins = ConfigurationKey.allCases.compactMap(origin)
        for map in ConfigurationMap.allCases {
            for (name, value) in try maps.values(of: map).sorted(by: { $0.key < $1.key }) {
                let key = "\(map.rawValue).\(name)"
                origins.append(
                    ConfigurationOrigin(key: key, value: value.text, source: Self.source(value.place, key)))
            }
        }
        for hook in try hookSettings() {
            let key = "hooks.\(hook.rule.name)"
            let place = hook.places["on"].map { Self.source($0, "\(key).on") }
            origins.append(
                ConfigurationOrigin(
                    key: key, value: hook.rule.events.map(\.rawValue).joined(separator: ", "), source: place ?? ""))
        }
        return origins
    }

    private func origin(of key: ConfigurationKey) -> ConfigurationOrigin? {
        let all = layers.all(key)
        guard let first = all.first else { return nil }
        return ConfigurationOrigin(
            key: key.rawValue, value: first.text, source: Self.source(first.place, key.rawValue),
            insteadOf: all.dropFirst().map { "\($0.text) (\(Self.source($0.place, key.rawValue)))" })
    }

    /// A place without the key, which the origin has already.
    private static func source(_ place: String, _ key: String) -> String {
        place.hasSuffix(": \(key)") ? String(place.dropLast(key.count + 2)) : place
    }
}
