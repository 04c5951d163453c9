/// What a record must meet to be in a list.
///
/// A field is a name (`status`), a place in an object (`address.city`) or a field of a related record
/// (`client.last_name`). Null meets no comparison but `isNull`.
public indirect enum Condition: Sendable, Hashable {
    /// The field is this value.
    case equals(String, FilterValue)
    /// The field is one of these values.
    case isOneOf(String, [FilterValue])
    /// The field is less than this.
    case isLess(String, FilterValue)
    /// The field is at most this.
    case isAtMost(String, FilterValue)
    /// The field is greater than this.
    case isGreater(String, FilterValue)
    /// The field is at least this.
    case isAtLeast(String, FilterValue)
    /// The field is null or missing.
    case isNull(String)
    /// The field begins with this text.
    case starts(String, String)
    /// The field has this text in it.
    case contains(String, String)
    /// The field is a list with this element.
    case has(String, FilterValue)
    /// The record meets all of these.
    case all([Condition])
    /// The record meets at least one of these.
    case any([Condition])
    /// The record does not meet this. A field that is null meets neither a comparison nor its negation.
    case not(Condition)

    /// A comparison: the field, the API's name of the comparison, and the text of its value.
    private var comparison: (field: String, name: String, values: [FilterValue])? {
        switch self {
        case .equals(let field, let value): (field, "eq", [value])
        case .isOneOf(let field, let values): (field, "in", values)
        case .isLess(let field, let value): (field, "lt", [value])
        case .isAtMost(let field, let value): (field, "lte", [value])
        case .isGreater(let field, let value): (field, "gt", [value])
        case .isAtLeast(let field, let value): (field, "gte", [value])
        case .isNull(let field): (field, "null", [true])
        case .starts(let field, let text): (field, "starts", [FilterValue(text)])
        case .contains(let field, let text): (field, "contains", [FilterValue(text)])
        case .has(let field, let value): (field, "has", [value])
        case .all, .any, .not: nil
        }
    }

    // MARK: As text

    /// The condition as a parameter of its own; nil if only parentheses can say it.
    var parameter: QueryItem? {
        guard let (field, name, values) = comparison else { return nil }
        if name == "in" { return QueryItem("\(field).in", values.map { Self.quoted($0.text) }.joined(separator: ",")) }
        let text = values.first?.text ?? ""
        // These take one value, and refuse a comma in it.
        guard !["lt", "lte", "gt", "gte"].contains(name) || !text.contains(",") else { return nil }
        return QueryItem("\(field).\(name)", text)
    }

    /// The condition as it stands in parentheses: `total.gte.100`, `not.or(a.eq.1,b.eq.2)`.
    var expression: String { expression(isNegated: false) }

    private func expression(isNegated: Bool) -> String {
        switch self {
        case .not(let condition): return condition.expression(isNegated: !isNegated)
        case .all(let parts): return (isNegated ? "not." : "") + "and" + Self.list(parts)
        case .any(let parts): return (isNegated ? "not." : "") + "or" + Self.list(parts)
        default: break
        }
        guard let (field, name, values) = comparison else { return "" }
        let path = field.split(separator: ".", omittingEmptySubsequences: false).map { Self.quotedName(String($0)) }
        let texts = values.map { Self.quoted($0.text) }
        let value = name == "in" ? "(\(texts.joined(separator: ",")))" : texts[0]
        return path.joined(separator: ".") + (isNegated ? ".not" : "") + ".\(name).\(value)"
    }

    /// Conditions in parentheses.
    static func list(_ parts: [Condition]) -> String { "(" + parts.map(\.expression).joined(separator: ",") + ")" }

    /// Names that could be read as a comparison or as syntax stand in quotes.
    private static func quotedName(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { !".,()\" ".utf8.contains($0) } && !comparisons.contains(name)
        return isPlain ? name : inQuotes(name)
    }

    private static let comparisons: Set<String> = [
        "eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "null", "starts", "contains", "has", "not", "and", "or",
    ]

    private static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { !",()\" \\".utf8.contains($0) }
        return isPlain ? value : inQuotes(value)
    }

    private static func inQuotes(_ text: String) -> String {
        // By scalars: as a `Character`, a quote with a combining mark after it is no quote, but the daemon ends the text there.
        let escaped = text.unicodeScalars.map { "\\\"".unicodeScalars.contains($0) ? "\\\($0)" : String($0) }
        return "\"\(escaped.joined())\""
    }
}
