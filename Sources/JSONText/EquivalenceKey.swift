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

    /// What stands for a key among hundreds of thousands, of which each may take ten times the memory of its text.
    ///
    /// No other key has the same 128 bits: they depend on a number that this process alone knows.
    package struct Digest: Sendable, Hashable {
        private let first: Int
        private let second: Int

        package init(_ json: JSONText) {
            let key = EquivalenceKey(json)
            var hasher = Hasher()
            hasher.combine(key)
            first = hasher.finalize()
            hasher = Hasher()
            hasher.combine(true)
            hasher.combine(key)
            second = hasher.finalize()
        }
    }

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
