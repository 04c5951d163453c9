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

    /// Reads the value in one walk, however deep it is.
    package init(_ json: JSONText) {
        // The text was validated when it was made, so the walk cannot fail.
        let read = try? JSONText.scan(json.bytes, isChecked: true) { (scanner) throws(JSONError) in
            try Self.next(&scanner, of: json)
        }
        self = read ?? .text(json)
    }

    /// The value at the scanner's position, which moves past it.
    private static func next(_ scanner: inout JSONScanner, of json: JSONText) throws(JSONError) -> EquivalenceKey {
        switch scanner.current {
        case UInt8(ascii: "["):
            var elements: [EquivalenceKey] = []
            try scanner.forEachElement { (scanner) throws(JSONError) in elements.append(try next(&scanner, of: json)) }
            return .array(elements)
        case UInt8(ascii: "{"):
            var members: [String: EquivalenceKey] = [:]
            try scanner.forEachMember { (scanner, name) throws(JSONError) in
                let text = CheckedJSON.text(scanner.bytes, name.dropFirst().dropLast())
                members[text] = try next(&scanner, of: json)
            }
            return .object(members)
        default:
            let start = scanner.at
            scanner.skipCheckedValue()
            return scalar(json.part(start..<scanner.at))
        }
    }

    private static func scalar(_ json: JSONText) -> EquivalenceKey {
        switch json.kind {
        case .string: .string(json.string ?? "")
        case .number: ExactDecimal(json: json.text).map { .number($0) } ?? .text(json)
        default: .text(json)
        }
    }
}
