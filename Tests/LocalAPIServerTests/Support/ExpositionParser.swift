/// A strict reader of Prometheus's text format 0.0.4 that complains as `promtool check metrics` does.
struct ExpositionParser {
    struct Sample: Equatable {
        var name: String
        /// In the order written.
        var labels: [String: String]
        var value: Double
    }

    struct Family {
        var name: String
        var type = ""
        var help = ""
        var samples: [Sample] = []
    }

    private(set) var families: [Family] = []
    private(set) var complaints: [String] = []

    init(_ text: String) {
        if !text.isEmpty, !text.hasSuffix("\n") { complaints.append("the last line has no end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { read(String(line)) }
        var series: Set<String> = []
        for family in families {
            check(family)
            for sample in family.samples {
                let key =
                    sample.name + sample.labels.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ";")
                if !series.insert(key).inserted { complaints.append("\(key): duplicate series") }
            }
        }
    }

    func samples(_ name: String) -> [Sample] { families.flatMap(\.samples).filter { $0.name == name } }

    /// The value of the only series of this name with these labels.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let found = samples(name).filter { $0.labels == labels }
        return found.count == 1 ? found[0].value : nil
    }

    // MARK: Lines

    private mutating func read(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard line.hasPrefix("#") else { return readSample(line) }
        guard words.count == 4, ["HELP", "TYPE"].contains(words[1]) else {
            return complaints.append("\(line): neither HELP nor TYPE")
        }
        let place = families.firstIndex { $0.name == words[2] }
        if words[1] == "HELP" {
            guard place == nil else { return complaints.append("\(words[2]): HELP is repeated or late") }
            families.append(Family(name: words[2], help: words[3]))
            return
        }
        guard let place, place == families.count - 1, families[place].type.isEmpty, families[place].samples.isEmpty
        else { return complaints.append("\(words[2]): TYPE without HELP before it, twice or late") }
        families[place].type = words[3]
    }

    private mutating func readSample(_ line: String) {
        guard let sample = Self.sample(line) else { return complaints.append("\(line): not a sample") }
        guard let family = families.last, Self.names(of: family).contains(sample.name) else {
            return complaints.append("\(line): does not belong to the family before it")
        }
        families[families.count - 1].samples.append(sample)
    }

    private static func names(of family: Family) -> [String] {
        family.type == "histogram" ? ["_bucket", "_sum", "_count"].map { family.name + $0 } : [family.name]
    }

    private static func sample(_ line: String) -> Sample? {
        var rest = line[...]
        let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
        guard let first = name.first, !first.isNumber else { return nil }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            repeat {
                let label = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
                rest = rest.dropFirst(label.count)
                guard label.first?.isNumber == false, rest.hasPrefix("=\""), labels[String(label)] == nil else {
                    return nil
                }
                rest = rest.dropFirst(2)
                guard let value = quoted(&rest) else { return nil }
                labels[String(label)] = value
                guard let next = rest.popFirst(), next == "," || next == "}" else { return nil }
                if next == "}" { break }
            } while true
        }
        guard rest.popFirst() == " ", !rest.contains(" "), let value = number(String(rest)) else { return nil }
        return Sample(name: String(name), labels: labels, value: value)
    }

    /// The text up to its closing quote, escapes resolved.
    private static func quoted(_ rest: inout Substring) -> String? {
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\":
                guard let escaped = rest.popFirst(), let meant = ["\\": "\\", "\"": "\"", "n": "\n"][escaped] else {
                    return nil
                }
                value += meant
            default: value.append(character)
            }
        }
        return nil
    }

    private static func number(_ text: String) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: text.allSatisfy { $0.isNumber || "+-.e".contains($0) } ? Double(text) : nil
        }
    }

    // MARK: Families

    private mutating func check(_ family: Family) {
        let name = family.name
        func complain(_ problem: String) { complaints.append("\(name): \(problem)") }
        if family.help.isEmpty { complain("no HELP") }
        if family.samples.isEmpty { complain("no samples") }
        if name != name.lowercased() { complain("expected snake_case") }
        for unit in ["milliseconds", "minutes", "hours", "kilobytes", "percent", "ms"]
        where name.split(separator: "_").contains(Substring(unit)) {
            complain("expected base units, not \(unit)")
        }
        switch family.type {
        case "counter":
            if !name.hasSuffix("_total") { complain("a counter's name ends in _total") }
            if family.samples.contains(where: { !($0.value >= 0) }) { complain("a counter is never negative") }
        case "gauge":
            if name.hasSuffix("_total") { complain("only a counter's name ends in _total") }
        case "histogram": checkHistogram(family)
        default: complain("unknown type \(family.type)")
        }
        for suffix in ["_bucket", "_count", "_sum"] where name.hasSuffix(suffix) { complain("\(suffix) is reserved") }
    }

    private mutating func checkHistogram(_ family: Family) {
        let groups = Dictionary(grouping: family.samples) { $0.labels.filter { $0.key != "le" } }
        for (labels, samples) in groups {
            func complain(_ problem: String) { complaints.append("\(family.name)\(labels): \(problem)") }
            let buckets = samples.filter { $0.name.hasSuffix("_bucket") }
            let bounds = buckets.map { $0.labels["le"].flatMap(Self.number) ?? .nan }
            if bounds.contains(where: \.isNaN) { complain("a bucket without le") }
            if zip(bounds, bounds.dropFirst()).contains(where: { $0 >= $1 }) { complain("le does not rise") }
            if zip(buckets, buckets.dropFirst()).contains(where: { $0.value > $1.value }) { complain("counts fall") }
            if bounds.last != .infinity { complain("no bucket le=\"+Inf\" at the end") }
            let counts = samples.filter { $0.name.hasSuffix("_count") }
            if counts.count != 1 || counts[0].value != buckets.last?.value { complain("_count is not the last bucket") }
            if samples.filter({ $0.name.hasSuffix("_sum") }).count != 1 { complain("not one _sum") }
        }
    }
}
