/// The words of a name, in lower case: `order_number`, `orderNumber` and `Order number` have the same.
///
/// Only ASCII letters and digits count, so every identifier made of them can be typed and read.
struct Words: Equatable {
    private(set) var words: [String] = []

    init(_ text: String) {
        var word = ""
        var isLower = false
        for scalar in text.unicodeScalars {
            let isLetter = (scalar.value | 0x20) &- 0x61 < 26 && scalar.isASCII
            let isDigit = scalar.value &- 0x30 < 10
            let isUpper = isLetter && scalar.value < 0x61
            if !isLetter && !isDigit || isUpper && isLower {
                if !word.isEmpty { words.append(word.lowercased()) }
                word = ""
            }
            if isLetter || isDigit { word.unicodeScalars.append(scalar) }
            isLower = isLetter && !isUpper || isDigit
        }
        if !word.isEmpty { words.append(word.lowercased()) }
    }

    /// `OrderNumber`; empty without words.
    var pascal: String { words.map(Self.capitalized).joined() }

    /// `orderNumber`.
    var camel: String { (words.first ?? "") + words.dropFirst().map(Self.capitalized).joined() }

    /// `order_number`.
    var snake: String { words.joined(separator: "_") }

    /// The same name for one of several, as far as a simple rule of English knows: `ticket_messages` → `ticket_message`.
    var singular: Words {
        var one = self
        if let last = words.last { one.words[words.count - 1] = Self.singular(last) }
        return one
    }

    private static func capitalized(_ word: String) -> String {
        ["id", "url"].contains(word) ? word.uppercased() : word.prefix(1).uppercased() + word.dropFirst()
    }

    private static func singular(_ word: String) -> String {
        let same = ["ss", "us", "is", "news", "series", "species"]
        if word.count < 4 || !word.hasSuffix("s") || same.contains(where: word.hasSuffix) { return word }
        if word.hasSuffix("ies"), word != "movies" { return word.dropLast(3) + "y" }
        let double = ["sses", "shes", "ches", "xes", "zzes", "tatuses"]
        return String(word.dropLast(double.contains(where: word.hasSuffix) ? 2 : 1))
    }
}
