import EntitySchema
import Yams

/// The values that a configuration file sets, each with the line it stands in.
///
/// Checks the file's shape: sections and keys that exist, each once, each with a plain value. Null is as good as absent.
struct ConfigurationFile {
    struct Value: Equatable {
        var text: String
        /// From 1.
        var line: Int
    }

    private(set) var values: [ConfigurationKey: Value] = [:]
    private let path: String

    /// `path` is named in every complaint. Throws when the text is not YAML or not a configuration.
    init(yaml: String, path: String) throws(ConfigurationError) {
        self.path = path
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch {
            throw ConfigurationError(place: Self.place(path, Self.line(of: error)), problem: "not YAML: \(error)")
        }
        // A file of comments alone sets nothing.
        guard let root, !root.isNull else { return }
        try read(root, section: nil)
    }

    func place(of key: ConfigurationKey) -> String {
        "\(Self.place(path, values[key]?.line)): \(key.rawValue)"
    }

    private mutating func read(_ node: Node, section: String?) throws(ConfigurationError) {
        guard let mapping = node.mapping else {
            throw error(node, section, "expected a mapping (key: value)")
        }
        var seen: Set<String> = []
        for (nameNode, value) in mapping {
            guard let name = nameNode.string else { throw error(nameNode, section, "expected a key that is text") }
            let full = section.map { "\($0).\(name)" } ?? name
            guard seen.insert(name).inserted else { throw error(nameNode, full, "this key stands here twice") }
            if let key = ConfigurationKey(rawValue: full) {
                try set(key, to: value)
            } else if section == nil, Self.sections.contains(name) {
                if !value.isNull { try read(value, section: name) }
            } else {
                throw unknown(nameNode, full)
            }
        }
    }

    private mutating func set(_ key: ConfigurationKey, to node: Node) throws(ConfigurationError) {
        if node.isNull { return }
        guard let scalar = node.scalar else { throw error(node, key.rawValue, "expected one value") }
        values[key] = Value(text: scalar.string, line: node.mark?.line ?? 0)
    }

    private static let sections = Set(ConfigurationKey.allCases.map(\.components).filter { $0.count > 1 }.map { $0[0] })

    private func unknown(_ node: Node, _ name: String) -> ConfigurationError {
        let known = ConfigurationKey.allCases.map(\.rawValue)
        let near =
            Suggestion.nearest(to: name, among: known + Self.sections.sorted())
            ?? known.first { $0.hasSuffix(".\(name)") }
        let hint = near.map { "did you mean \($0)?" } ?? "the keys are \(known.joined(separator: ", "))"
        return error(node, name, "unknown key; \(hint)")
    }

    private func error(_ node: Node, _ key: String?, _ problem: String) -> ConfigurationError {
        let place = Self.place(path, node.mark?.line)
        return ConfigurationError(place: key.map { "\(place): \($0)" } ?? place, problem: problem)
    }

    private static func place(_ path: String, _ line: Int?) -> String {
        line.map { "\(path):\($0)" } ?? path
    }

    private static func line(of error: any Error) -> Int? {
        switch error as? YamlError {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        default: nil
        }
    }
}

extension Node {
    /// An empty value, `~` or `null`; a quoted one is text.
    fileprivate var isNull: Bool { self == Node("", Tag(.null)) || null != nil }
}
