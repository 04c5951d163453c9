/// What a JSON value means, to find it among many by hashing.
///
/// Two values have the same key exactly if `isEquivalent` says that they are the same.
package enum EquivalenceKey: Sendable, Hashable {
    case number(ExactDecimal)
    case string(String)
    case array([EquivalenceKey])
    /// Of duplicate members the last one.
    case object([String: EquivalenceKey])
    /// Null, a boolean, or a number beyond all amounts: only the same text is the same.
    case text(JSONText)

    package init(_ json: JSONText) {
        switch json.kind {
        case .null, .boolean: self = .text(json)
        case .number: self = ExactDecimal(json: json.text).map { .number($0) } ?? .text(json)
        case .string: self = .string(json.string ?? "")
        case .array: self = .array(json.elements.map { EquivalenceKey($0) })
        case .object: self = .object(json.lastMembers.mapValues { EquivalenceKey($0) })
        }
    }
}
