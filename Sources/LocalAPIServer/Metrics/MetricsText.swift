/// Writes metrics in Prometheus's text format 0.0.4: each family with its HELP and TYPE once, then its samples.
struct MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String {
        case counter, gauge, histogram
    }

    typealias Labels = [(name: String, value: String)]

    /// The beginning of all families' names.
    private let prefix: String
    private(set) var bytes: [UInt8] = []

    init(prefix: String = "") {
        self.prefix = prefix
    }

    /// `samples` writes the samples of the family; a family without samples is left out.
    mutating func family(
        _ bareName: String, _ kind: Kind, _ help: String, hasPrefix: Bool = true, _ samples: (inout Family) -> Void
    ) {
        let name = hasPrefix ? prefix + bareName : bareName
        var family = Family(name: name)
        samples(&family)
        guard !family.lines.isEmpty else { return }
        append("# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n")
        append(family.lines)
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        family(name, .gauge, help) { $0.sample([], value) }
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Int) { gauge(name, help, Double(value)) }

    mutating func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
        family(name, .counter, help) { $0.sample([], Double(value)) }
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }

    struct Family {
        let name: String
        fileprivate var lines = ""

        mutating func sample(_ labels: Labels, _ value: Double, suffix: String = "") {
            lines += name + suffix + MetricsText.written(labels) + " " + MetricsText.written(value) + "\n"
        }

        mutating func histogram(_ labels: Labels, _ histogram: Histogram.Snapshot) {
            var count: UInt64 = 0
            for (bound, hits) in zip(histogram.bounds, histogram.counts) {
                count += hits
                sample(labels + [("le", MetricsText.written(bound))], Double(count), suffix: "_bucket")
            }
            count += histogram.counts.last ?? 0
            sample(labels + [("le", "+Inf")], Double(count), suffix: "_bucket")
            sample(labels, histogram.sum, suffix: "_sum")
            sample(labels, Double(count), suffix: "_count")
        }
    }

    // MARK: Notation

    private static func written(_ labels: Labels) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    private static func written(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
