internal import JSONText

/// The words for sample values when a schema gives only a field's name.
enum SampleWords {
    /// In 2026, in a month that has it.
    static func day(_ random: inout SplitMix64) -> JSONText {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return .string("2026-\(two(1 + random.below(12)))-\(two(1 + random.below(28)))")
    }

    /// In upper case, as apps write them.
    static func uuid(_ random: inout SplitMix64) -> String {
        let digits = Array(random.hex(32).uppercased())
        let parts = [digits[0..<8], digits[8..<12], ["4"] + digits[13..<16], ["A"] + digits[17..<20], digits[20..<32]]
        return parts.map { String($0) }.joined(separator: "-")
    }

    /// Keys of people or things that are not records of the schema; the same for the same name.
    static func strangers(_ name: String) -> [String] {
        var random = SplitMix64(seed: name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
        return (0..<8).map { _ in uuid(&random) }
    }

    static func object(_ name: SampleName, _ random: inout SplitMix64) -> JSONText {
        if name.contains("recurrence", "repeat") {
            return .object(["frequency": .string(random.pick(["daily", "weekly", "monthly"])), "interval": 1])
        }
        if name.contains("preferences", "settings", "options") {
            return .object([
                "email": .boolean(random.chance(0.5)), "push": true, "quiet_hours": .array(["22:00", "07:00"]),
            ])
        }
        return .object(["summary": .string(random.pick(sentences)), "items": .integer(1 + random.below(20))])
    }

    // MARK: Text

    /// A typical value for a field of this name; the name and a number when nothing is known about it.
    static func text(_ name: SampleName, number: Int, _ random: inout SplitMix64) -> String {
        let first = random.pick(ShopWords.firstNames)
        let last = random.pick(ShopWords.lastNames)
        if name.contains("zip", "postcode", "postal") { return "\(10_000 + random.below(89_999))" }
        for word in name.words.reversed() {
            switch word {
            case "email", "mail": return "person\(number)@example.org"
            case "phone", "mobile", "fax": return "+44 7700 9\(10_000 + random.below(90_000))"
            case "address", "street":
                if name.contains("ip") { return "192.0.2.\(1 + random.below(254))" }
                return "\(1 + random.below(180)) \(random.pick(ShopWords.streets))"
            case "city", "town": return random.pick(ShopWords.cities).name
            case "state", "region": return random.pick(["CA", "IL", "MA", "NY", "OR", "TX", "WA"])
            case "country": return random.pick(["Canada", "France", "Germany", "Japan", "United Kingdom"])
            case "url", "website", "link": return "https://example.org/\(name.text)/\(number)"
            case "company", "organisation", "organization": return random.pick(ShopWords.companies)
            case "color", "colour", "hex": return "#\(random.hex(6).uppercased())"
            case "emoji": return random.pick(["📚", "🧪", "🎧", "🏃", "🖊️"])
            case "agent": return random.pick(agents)
            case "serial", "code", "sku", "reference": return random.hex(8).uppercased()
            case "name", "person", "author", "instructor", "teacher":
                return name.contains("first") ? first : name.contains("last") ? last : "\(first) \(last)"
            case "notes", "note", "description", "text", "content", "body", "message", "comment", "info", "summary":
                return random.pick(sentences)
            default: continue
            }
        }
        let words = name.words.joined(separator: " ")
        return "\(words.prefix(1).uppercased())\(words.dropFirst()) \(number)"
    }

    static let agents = ["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)"]

    static let sentences = [
        "Ask again in the spring.", "Done as agreed; the receipt is in the folder.", "Left with the neighbour.",
        "Needs a second look before winter.", "See the note of last time.", "Took longer than planned.",
        "Works as it should.",
    ]
}

/// A field's name, split into words.
struct SampleName {
    let text: String
    let words: [String]

    init(_ text: String) {
        self.text = text
        words = text.lowercased().split(separator: "_").map(String.init)
    }

    func contains(_ any: String...) -> Bool { any.contains { words.contains($0) } }

    /// Whether it names records that are not in the schema.
    var isKey: Bool { contains("id", "ids") || text.hasSuffix("_by") }

    /// Whether it is a time that is usually in the future.
    var isAhead: Bool {
        contains("due", "next", "expires", "expiry", "expiration", "until", "alarm", "scheduled", "deadline")
    }

    /// Whether it is a time that is usually before the record's creation.
    var isBehind: Bool { contains("installation", "installed", "purchase", "purchased", "birth") }
}
