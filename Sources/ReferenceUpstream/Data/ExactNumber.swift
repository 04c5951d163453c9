internal import Foundation
internal import JSONText

/// An exact number with the count of decimals to write.
struct ExactNumber {
    var number: Decimal
    var decimals = 0

    init(number: Decimal, decimals: Int = 0) {
        self.number = number
        self.decimals = decimals
    }

    init(_ count: Int, decimals: Int = 0) { self.init(number: Decimal(count), decimals: decimals) }

    /// Nil for a value that is not a number; a number in quotes is one.
    init?(_ value: JSONText?) {
        guard let text = value.flatMap({ $0 == .null ? nil : $0.plain }), text.first?.isLetter == false,
            let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        else { return nil }
        self.init(number: number, decimals: text.split(separator: ".").dropFirst().first?.count ?? 0)
    }

    static func + (one: ExactNumber, other: ExactNumber) -> ExactNumber {
        ExactNumber(number: one.number + other.number, decimals: max(one.decimals, other.decimals))
    }

    static func - (one: ExactNumber, other: ExactNumber) -> ExactNumber {
        ExactNumber(number: one.number - other.number, decimals: max(one.decimals, other.decimals))
    }

    var isZero: Bool { number == 0 }

    var json: JSONText {
        var text = "\(number)"
        if decimals > 0, !text.contains(".") { text += "." }
        let written = text.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first?.count ?? 0
        return (try? JSONText(parsing: text + String(repeating: "0", count: max(0, decimals - written)))) ?? .null
    }
}
