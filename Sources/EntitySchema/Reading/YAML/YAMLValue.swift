internal import Yams

/// A YAML document, reduced to what a schema needs.
///
/// A copy costs one reference count; one of Yams's nodes costs many, and a schema is read by looking up its keys.
struct YAMLValue {
    enum Content {
        /// `isPlain`: without quotes, so that it may be a number or a boolean.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLValue])
        case mapping([(key: YAMLValue, value: YAMLValue)])
    }

    let content: Content
    /// From 1; nil if the parser does not say.
    let line: Int?

    /// Nil for an empty document; throws `YAMLError`.
    init?(parsing yaml: String) throws {
        guard let node = try YAMLDocument.root(of: yaml) else { return nil }
        self.init(node)
    }

    init(_ content: Content, line: Int?) {
        self.content = content
        self.line = line
    }

    private init(_ node: Node) {
        line = node.mark?.line
        switch node {
        case .scalar(let scalar): content = .scalar(scalar.string, isPlain: scalar.style == .plain)
        case .sequence(let sequence): content = .sequence(sequence.map { YAMLValue($0) })
        case .mapping(let mapping):
            content = .mapping(mapping.map { (YAMLValue($0.key), YAMLValue($0.value)) })
        // Yams has put the value in its place.
        case .alias: content = .scalar("", isPlain: true)
        }
    }

    /// Nil if it is no scalar.
    var text: String? { if case .scalar(let text, _) = content { text } else { nil } }

    var members: [(key: YAMLValue, value: YAMLValue)]? {
        if case .mapping(let members) = content { members } else { nil }
    }

    var elements: [YAMLValue]? { if case .sequence(let elements) = content { elements } else { nil } }

    /// As YAML 1.1 writes it, without quotes.
    var boolean: Bool? {
        guard case .scalar(let text, isPlain: true) = content else { return nil }
        switch text {
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": return true
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": return false
        default: return nil
        }
    }

    /// Without quotes; `_` may group digits.
    var integer: Int? {
        guard case .scalar(let text, isPlain: true) = content else { return nil }
        return Int(text.filter { $0 != "_" })
    }
}
