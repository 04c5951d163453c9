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

    /// A document that expands to more values than this, by aliases of aliases, is no schema.
    private static let limit = 100_000

    private struct TooManyValues: Error, CustomStringConvertible {
        var description: String { "it has more than \(limit) values; use fewer aliases" }
    }

    /// Nil for an empty document; throws `YamlError`.
    init?(parsing yaml: String) throws {
        // Without Yams's regular expressions for the types of plain text, which take milliseconds to compile.
        guard let node = try Yams.compose(yaml: yaml, .basic) else { return nil }
        var room = Self.limit
        try self.init(node, &room)
    }

    init(_ content: Content, line: Int?) {
        self.content = content
        self.line = line
    }

    private init(_ node: Node, _ room: inout Int) throws {
        room -= 1
        guard room > 0 else { throw TooManyValues() }
        line = node.mark?.line
        switch node {
        case .scalar(let scalar): content = .scalar(scalar.string, isPlain: scalar.style == .plain)
        case .sequence(let sequence): content = .sequence(try sequence.map { try YAMLValue($0, &room) })
        case .mapping(let mapping):
            content = .mapping(try mapping.map { (try YAMLValue($0.key, &room), try YAMLValue($0.value, &room)) })
        // Yams has put the value in its place.
        case .alias: content = .scalar("", isPlain: true)
        }
    }

    /// Nil if it is no scalar.
    var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    var members: [(key: YAMLValue, value: YAMLValue)]? {
        if case .mapping(let members) = content { members } else { nil }
    }

    var elements: [YAMLValue]? {
        if case .sequence(let elements) = content { elements } else { nil }
    }

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
