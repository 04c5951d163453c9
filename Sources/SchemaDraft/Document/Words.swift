/// Compares and forms names: `customerID`, `customer_id` and `CustomerId` are one.
package enum Words {
    /// Without what differs between the spellings of one name: `totalItems`, `total_items`.
    package static func folded(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    /// `purchaseOrders`, `Purchase-Orders` → `purchase_orders`. Only ASCII letters, digits and `_`.
    static func snake(_ name: String) -> String {
        var result = ""
        var previous: Character = "_"
        let letters = Array(name.filter(\.isASCII))
        for (index, letter) in letters.enumerated() {
            guard letter.isLetter || letter.isNumber else {
                if previous != "_" { result.append("_") }
                previous = "_"
                continue
            }
            let next = letters.indices.contains(index + 1) ? letters[index + 1] : "_"
            let begins = letter.isUppercase && (previous.isLowercase || previous.isNumber || next.isLowercase)
            if begins, previous != "_" { result.append("_") }
            result.append(letter.lowercased())
            previous = letter
        }
        while result.hasSuffix("_") { result.removeLast() }
        return result
    }

    /// `purchaseOrders` → `purchase`, `orders`.
    static func parts(of name: String) -> [String] { snake(name).split(separator: "_").map(String.init) }

    /// Ends of plurals that only add an `s`, though others with the same last letters add more.
    private static let plain = ["ouses", "auses", "movies", "cookies", "calories", "sizes", "prizes"]

    /// `orders` → `order`, `companies` → `company`, `statuses` → `status`, `warehouses` → `warehouse`. Other words stay.
    static func singular(_ word: String) -> String {
        let lower = word.lowercased()
        if lower == "people" { return "person" }
        if ["ss", "us", "is", "news", "series", "data"].contains(where: lower.hasSuffix) { return word }
        if plain.contains(where: lower.hasSuffix) { return String(word.dropLast()) }
        if lower.hasSuffix("ies"), lower.count > 4 { return word.dropLast(3) + "y" }
        for ending in ["sses", "shes", "ches", "xes", "zes", "uses", "aliases"] where lower.hasSuffix(ending) {
            return String(word.dropLast(2))
        }
        return lower.hasSuffix("s") && lower.count > 2 ? String(word.dropLast()) : word
    }

    /// `order` → `orders`, `company` → `companies`. A plural stays.
    static func plural(_ word: String) -> String {
        let lower = word.lowercased()
        if singular(word) != word || ["people", "news", "series", "data"].contains(where: lower.hasSuffix) {
            return word
        }
        if lower == "person" { return "people" }
        let beforeY = lower.dropLast().last.map { !"aeiou".contains($0) } == true
        if lower.hasSuffix("y"), beforeY { return word.dropLast() + "ies" }
        return word + (["s", "x", "z", "ch", "sh"].contains(where: lower.hasSuffix) ? "es" : "s")
    }

    /// `in_progress`, `inProgress` → `In progress`.
    static func label(_ value: String) -> String {
        let words = parts(of: value).joined(separator: " ")
        guard let first = words.first else { return value }
        return first.uppercased() + words.dropFirst()
    }

    /// Whether a name has only ASCII letters, digits and `_`.
    static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        }
    }

    /// `nextPageToken` → `token`.
    static func lastWord(of name: String) -> String { parts(of: name).last ?? "" }
}

/// The places of a schema: names separated by dots.
enum PlaceText {
    private static let longestName = 200

    /// Nil for names that cannot stand in a place, or are longer than any that people write.
    static func joined(_ names: [String]) -> String? {
        var steps: [String] = []
        for name in names {
            guard !name.isEmpty, name.utf8.count <= longestName, !name.contains("\""),
                name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0 != "\\" })
            else { return nil }
            steps.append(name == "*" || Words.isPlain(name) ? name : "\"\(name)\"")
        }
        return steps.joined(separator: ".")
    }
}
