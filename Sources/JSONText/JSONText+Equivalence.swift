extension JSONText {
    /// Whether two texts have the same meaning, ignoring spaces, escapes, member order and number notation.
    ///
    /// Of duplicate members the last one counts. 129.9 and 129.90 are the same, 1 and "1" are not.
    package func isEquivalent(to other: JSONText) -> Bool {
        if self == other { return true }
        guard kind == other.kind else { return false }
        switch kind {
        case .null, .boolean: return false
        case .string: return string == other.string
        case .number: return Decimal(text) == Decimal(other.text)
        case .array:
            let (mine, others) = (elements, other.elements)
            return mine.count == others.count && zip(mine, others).allSatisfy { $0.isEquivalent(to: $1) }
        case .object:
            let (mine, others) = (lastMembers, other.lastMembers)
            return mine.count == others.count
                && mine.allSatisfy { name, value in others[name].map { value.isEquivalent(to: $0) } ?? false }
        }
    }

    private var lastMembers: [String: JSONText] {
        Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }
    }
}

/// A number as digits and a power of ten without leading or trailing zeros, so equal numbers of any length are equal
/// values.
private struct Decimal: Equatable {
    private var isNegative = false
    private var digits: [UInt8] = []
    private var exponent = 0

    /// `text` is a validated JSON number.
    init(_ text: String) {
        var fraction = 0
        var isFraction = false
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponent = Int(String(decoding: rest.drop { $0 == UInt8(ascii: "+") }, as: UTF8.self)) ?? .max / 2
                rest = []
            default:
                if isFraction { fraction += 1 }
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
            }
        }
        exponent -= fraction
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty {
            exponent = 0
            isNegative = false
        }
    }
}
