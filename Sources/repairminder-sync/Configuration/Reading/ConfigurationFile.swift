import EntitySchema
import Yams

/// The values in a configuration file, each with its line; `override(with:)` adds those of another file.
///
/// Checks the structure: every section and key exists, appears once and has a plain value. Null counts as not set.
struct ConfigurationFile {
    struct Value: Equatable {
        var text: String
        /// The file that sets it.
        var path: String
        /// From 1.
        var line: Int

        /// `config.yaml:12`.
        var source: String { "\(path):\(line)" }
    }

    /// What `hooks` has in one file, for `HookReader`.
    struct Hooks {
        var path: String
        var node: Node
    }

    private(set) var values: [ConfigurationKey: Value] = [:]
    /// By name.
    private(set) var maps: [ConfigurationMap: [String: Value]] = [:]
    /// Where the signed bundle is: `file` and `public_key`.
    private(set) var bundle: [String: Value] = [:]
    /// One for each file that has hooks.
    private(set) var hooks: [Hooks] = []
    /// What later files have replaced, the latest first.
    private(set) var overridden: [ConfigurationKey: [Value]] = [:]
    private let path: String
    /// The first thing that a lenient reader left out.
    private(set) var problem: ConfigurationError?
    private let isLenient: Bool

    /// `path` appears in every error. Throws when the text is not YAML or not a configuration. With
    /// `isLenient`, what is not known is left out.
    init(yaml: String, path: String, isLenient: Bool = false) throws(ConfigurationError) {
        try self.init(root: Self.root(of: yaml, path: path), path: path, isLenient: isLenient)
    }

    /// `root` is the part of a file that has the keys; nil sets nothing, and neither does a file of only comments.
    init(root: Node?, path: String, isLenient: Bool) throws(ConfigurationError) {
        self.path = path
        self.isLenient = isLenient
        guard let root, !root.isNull else { return }
        try read(root, section: nil)
    }

    static func root(of yaml: String, path: String) throws(ConfigurationError) -> Node? {
        do {
            return try YAMLDocument.root(of: yaml)
        } catch let error as YAMLError {
            throw ConfigurationError(place: place(path, error.line), problem: "not YAML: \(error.problem)")
        } catch {
            throw ConfigurationError(place: path, problem: "not YAML: \(error)")
        }
    }

    func place(of key: ConfigurationKey) -> String { "\(values[key]?.source ?? path): \(key.rawValue)" }

    func place(of map: ConfigurationMap, _ name: String) -> String {
        "\(maps[map]?[name]?.source ?? path): \(map.rawValue).\(name)"
    }

    /// Adds the values of a later file: they replace earlier ones of the same key or name.
    mutating func override(with later: ConfigurationFile) {
        for (key, value) in later.values {
            if let former = values[key] { overridden[key] = [former] + overridden[key, default: []] }
            values[key] = value
        }
        for (map, named) in later.maps { maps[map, default: [:]].merge(named) { $1 } }
        bundle.merge(later.bundle) { $1 }
        hooks += later.hooks
        problem = problem ?? later.problem
    }

    private mutating func read(_ node: Node, section: String?) throws(ConfigurationError) {
        guard let mapping = node.mapping else {
            throw error(node, section, "expected a mapping (key: value)")
        }
        for (nameNode, value) in mapping {
            guard let name = nameNode.string else { throw error(nameNode, section, "expected a text key") }
            let full = section.map { "\($0).\(name)" } ?? name
            if full == ConfigurationKey.schema.rawValue, value.mapping != nil {
                try read(value, section: name)
            } else if let key = full == Self.schemaName ? .schema : ConfigurationKey(rawValue: full) {
                try set(key, to: value)
            } else if let map = ConfigurationMap(rawValue: full) {
                if !value.isNull { try read(value, into: map) }
            } else if full == Self.bundleKey {
                if !value.isNull { try readBundle(value) }
            } else if full == Self.hooksKey {
                if !value.isNull { hooks = [Hooks(path: path, node: value)] }
            } else if section == nil, Self.sections.contains(name) {
                if !value.isNull { try read(value, section: name) }
            } else {
                guard isLenient else { throw unknown(nameNode, full) }
                problem = problem ?? unknown(nameNode, full)
            }
        }
    }

    private mutating func set(_ key: ConfigurationKey, to node: Node) throws(ConfigurationError) {
        if let value = try value(node, key.rawValue) { values[key] = value }
    }

    /// Nil for null.
    private func value(_ node: Node, _ key: String) throws(ConfigurationError) -> Value? {
        if node.isNull { return nil }
        guard let scalar = node.scalar else { throw error(node, key, "expected a single value") }
        return Value(text: scalar.string, path: path, line: node.mark?.line ?? 0)
    }

    private mutating func read(_ node: Node, into map: ConfigurationMap) throws(ConfigurationError) {
        guard let mapping = node.mapping else { throw error(node, map.rawValue, "expected a mapping (name: value)") }
        for (nameNode, value) in mapping where !value.isNull {
            guard let name = nameNode.string else { throw error(nameNode, map.rawValue, "expected a text key") }
            maps[map, default: [:]][name] = try self.value(value, "\(map.rawValue).\(name)")
        }
    }

    private mutating func readBundle(_ node: Node) throws(ConfigurationError) {
        guard let mapping = node.mapping else { throw error(node, Self.bundleKey, "expected a mapping (key: value)") }
        for (nameNode, value) in mapping {
            let full = "\(Self.bundleKey).\(nameNode.string ?? "")"
            guard Self.bundleKeys.contains(full) else {
                guard isLenient else { throw unknown(nameNode, full) }
                continue
            }
            bundle[nameNode.string ?? ""] = try self.value(value, full)
        }
    }

    private static let hooksKey = "hooks"
    private static let bundleKey = "bundle"
    private static let bundleKeys = ["bundle.file", "bundle.public_key"]
    /// The key `schema` beside what it is pinned to.
    private static let schemaName = "schema.name"

    private static let sections = Set(ConfigurationKey.allCases.map(\.components).filter { $0.count > 1 }.map { $0[0] })

    private func unknown(_ node: Node, _ name: String) -> ConfigurationError {
        let known = ConfigurationKey.allCases.map(\.rawValue) + ConfigurationMap.allCases.map(\.rawValue)
        let near =
            Suggestion.nearest(
                to: name,
                among: known + Self.sections.sorted() + [Self.hooksKey, Self.schemaName, Self.bundleKey]
                    + Self.bundleKeys)
            ?? known.first { $0.hasSuffix(".\(name)") }
        let beside = name.contains(".") ? known.filter { $0.hasPrefix(name.prefix { $0 != "." } + ".") } : []
        let hint =
            near.map { "did you mean \($0)?" }
            ?? "the keys are \((beside.isEmpty ? known : beside).joined(separator: ", "))"
        return error(node, name, "unknown key; \(hint)")
    }

    private func error(_ node: Node, _ key: String?, _ problem: String) -> ConfigurationError {
        let place = Self.place(path, node.mark?.line)
        return ConfigurationError(place: key.map { "\(place): \($0)" } ?? place, problem: problem)
    }

    private static func place(_ path: String, _ line: Int?) -> String { line.map { "\(path):\($0)" } ?? path }
}

extension Node {
    /// True for an empty value, `~` or `null`; a quoted value is text.
    var isNull: Bool {
        guard let scalar else { return false }
        return scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }
}
