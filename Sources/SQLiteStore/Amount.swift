package import JSONText

/// A decimal number with exact sums, as money needs: whole billionths in 128 bits, never binary fractions.
package struct Amount: Sendable, Equatable {
    /// The number of decimals kept.
    package static let places = 9
    /// The most integer digits that an amount may have and still be summed; anything longer is not money.
    package static let longestPart = 15

    /// In units of 10⁻⁹.
    package private(set) var billionths: Int128
    /// The number of decimals to write: that of the most precise summand.
    package var decimals: Int

    package static let zero = Amount(billionths: 0, decimals: 0)

    package static func + (one: Amount, other: Amount) -> Amount {
        Amount(billionths: one.billionths + other.billionths, decimals: max(one.decimals, other.decimals))
    }

    package static func - (one: Amount, other: Amount) -> Amount {
        Amount(billionths: one.billionths - other.billionths, decimals: max(one.decimals, other.decimals))
    }

    private init(billionths: Int128, decimals: Int) {
        self.billionths = billionths
        self.decimals = decimals
    }

    package init(_ whole: Int) { self.init(billionths: Int128(whole) * 1_000_000_000, decimals: 0) }

    /// The amount written with at least `decimals` decimals.
    package func written(with decimals: Int) -> Amount {
        Amount(billionths: billionths, decimals: max(decimals, self.decimals))
    }

    package var json: JSONText {
        let divisor = (decimals..<Self.places).reduce(Int128(1)) { product, _ in product * 10 }
        return .decimal(billionths / divisor, places: decimals)
    }

    /// This amount as a percentage of `whole`, to one decimal, with halves rounded away from zero; zero if `whole` is
    /// zero, or if the percentage is too large for any sum of money.
    package func percent(of whole: Amount) -> JSONText {
        // Tenths of a percent, doubled so that adding one rounds a half up.
        let (thousands, overflow) = billionths.multipliedReportingOverflow(by: 2000)
        guard whole.billionths != 0, !overflow else { return .decimal(0, places: 1) }
        let doubled = thousands / whole.billionths
        return .decimal((doubled + doubled.signum()) / 2, places: 1)
    }
}

extension Amount {
    /// Reads a JSON number, or one in quotes as some upstreams send it: `129.90`, `"150.00"`, `1.5e2`.
    ///
    /// Nil for anything else, for more than nine decimals, and for more than `digits` digits before the point.
    package init?(json text: String, digits: Int = longestPart) {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "\""), rest.count > 1, rest.last == UInt8(ascii: "\"") {
            rest = rest.dropFirst().dropLast()
        }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        let whole = Self.digits(&rest)
        guard !whole.isEmpty else { return nil }
        var fraction = ""[...].utf8
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = Self.digits(&rest)
            guard !fraction.isEmpty else { return nil }
        }
        guard let exponent = Self.exponent(rest) else { return nil }
        let significant = (Array(whole) + Array(fraction)).drop { $0 == UInt8(ascii: "0") }
        let trailing = significant.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        // The exponent of the last digit, counted in powers of ten above 10⁻⁹.
        let shift = Self.places - fraction.count + exponent
        guard shift + trailing >= 0, significant.count + shift - Self.places <= digits || significant.isEmpty else {
            return nil
        }
        var value = significant.dropLast(trailing).reduce(Int128(0)) { $0 * 10 + Int128($1 &- UInt8(ascii: "0")) }
        if value != 0 { for _ in 0..<(shift + trailing) { value *= 10 } }
        self.init(
            billionths: isNegative ? -value : value, decimals: min(max(fraction.count - exponent, 0), Self.places))
    }

    private static func digits(_ rest: inout Substring.UTF8View) -> Substring.UTF8View {
        let found = rest.prefix { $0 &- UInt8(ascii: "0") < 10 }
        rest = rest[found.endIndex...]
        return found
    }

    /// 0 for empty text; nil for anything that is not an exponent, or is too large for any amount.
    private static func exponent(_ text: Substring.UTF8View) -> Int? {
        guard let first = text.first else { return 0 }
        guard first | 0x20 == UInt8(ascii: "e"), let exponent = Int(Substring(text.dropFirst())),
            (-100...100).contains(exponent)
        else { return nil }
        return exponent
    }
}
