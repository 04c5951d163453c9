/// A number as digits and a power of ten without leading or trailing zeros, so equal numbers of any length are equal
/// values.
package struct ExactDecimal: Sendable, Hashable, Comparable {
    private var isNegative = false
    private var digits: [UInt8] = []
    private var exponent = 0

    /// No amount of anything has a larger exponent.
    private static let exponents = -1_000_000...1_000_000

    /// `text` is a validated JSON number; nil for one beyond all amounts.
    init?(json text: String) {
        var fraction = 0
        var isFraction = false
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                let written = Int(String(decoding: rest.drop { $0 == UInt8(ascii: "+") }, as: UTF8.self))
                guard let written, Self.exponents.contains(written) else { return nil }
                exponent = written
                rest = []
            default:
                if isFraction { fraction += 1 }
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
            }
        }
        exponent -= fraction
        normalize()
    }

    private mutating func normalize() {
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        guard digits.isEmpty else { return }
        exponent = 0
        isNegative = false
    }

    package static func < (one: ExactDecimal, other: ExactDecimal) -> Bool {
        if one.isNegative != other.isNegative { return one.isNegative }
        return one.isNegative ? other.isSmaller(than: one) : one.isSmaller(than: other)
    }

    /// Whether it is nearer to zero. The digits have no zeros at either end, so the greatest place decides first.
    private func isSmaller(than other: ExactDecimal) -> Bool {
        guard !digits.isEmpty, !other.digits.isEmpty else { return digits.isEmpty && !other.digits.isEmpty }
        let (place, otherPlace) = (digits.count + exponent, other.digits.count + other.exponent)
        return place == otherPlace ? digits.lexicographicallyPrecedes(other.digits) : place < otherPlace
    }

    /// How many digits follow the point.
    package var places: Int { max(0, -exponent) }

    /// Whether this is `other` with fewer digits after the point, rounded or cut.
    package func isRounded(from other: ExactDecimal) -> Bool {
        guard places < other.places, !digits.isEmpty || !other.digits.isEmpty else { return false }
        return self == other.cut(to: places, up: false) || self == other.cut(to: places, up: true)
    }

    /// Whether this is `other` in a unit a hundred or a thousand times smaller or larger, such as cents for pounds.
    package func isOtherUnit(of other: ExactDecimal) -> Bool {
        digits == other.digits && isNegative == other.isNegative && !digits.isEmpty
            && (2...3).contains(abs(exponent - other.exponent))
    }

    /// With `places` digits after the point; `up` adds one to the last if the part that is cut is at least a half.
    private func cut(to places: Int, up: Bool) -> ExactDecimal {
        let dropped = self.places - places
        guard dropped > 0 else { return self }
        var result = self
        let first = digits.count >= dropped ? digits[digits.count - dropped] : UInt8(ascii: "0")
        result.digits.removeLast(min(dropped, digits.count))
        result.exponent = -places
        if up, first >= UInt8(ascii: "5") { result.increment() }
        result.normalize()
        return result
    }

    /// Adds one to the last digit.
    private mutating func increment() {
        var index = digits.count
        while index > 0 {
            index -= 1
            guard digits[index] == UInt8(ascii: "9") else { return digits[index] += 1 }
            digits[index] = UInt8(ascii: "0")
        }
        digits.insert(UInt8(ascii: "1"), at: 0)
    }
}

extension JSONText {
    /// The amount of a number, or of a text that is one as JSON writes it; nil for anything else.
    package var amount: ExactDecimal? {
        switch kind {
        case .number: return ExactDecimal(json: text)
        case .string:
            let trimmed = plain.filter { $0 != " " }
            guard let first = trimmed.utf8.first, first == UInt8(ascii: "-") || first &- 0x30 < 10,
                let number = try? JSONText(parsing: trimmed), number.kind == .number
            else { return nil }
            return ExactDecimal(json: trimmed)
        default: return nil
        }
    }
}
