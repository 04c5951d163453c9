internal import EntitySchema
internal import JSONText

/// How an upstream writes times, by what the document says and shows.
enum TimeText {
    /// Whether the times of a member are texts that are no ISO 8601: `Tue, 20 Nov 2012 09:00:00 +0000`, `20/11/2012`.
    static func isOther(_ shape: DataShape) -> Bool {
        guard shape.kind == .string else { return false }
        if let example = shape.example?.text, example.contains(where: \.isNumber) {
            let isBegun = example.prefixMatch(of: /[0-9]{4}-?[0-9]{2}/) != nil
            return !isBegun && (JSONText.string(example).changeTime == nil || isHTTP(shape))
        }
        return isOther(shape.description ?? "")
    }

    /// Whether they are in the form of HTTP: no field of type time has such texts, but changes are compared by them.
    static func isHTTP(_ shape: DataShape) -> Bool {
        shape.example?.text.map { Timestamp(httpDate: $0) != nil } ?? false
    }

    /// Whether they count from 1970, in quotes.
    static func isCount(_ shape: DataShape) -> Bool {
        shape.example?.text.map { Double($0) != nil } ?? (shape.description ?? "").lowercased().contains(/unix|epoch/)
    }

    private static func isOther(_ description: String) -> Bool {
        let text = description.lowercased()
        guard !isISO(text) else { return false }
        let isMail =
            text.contains(/rfc[- ]?(822|1123|2822|5322)/) || text.contains(/(mon|tue|wed|thu|fri|sat|sun), [0-9]/)
        return isMail || pattern(in: description).map { !$0.isISO } == true
    }

    /// Whether a text in lower case names the form: the word, and not a part of `comparison`.
    private static func isISO(_ text: String) -> Bool { text.contains(/\biso(format)?\b|8601|3339/) }

    /// In which form a parameter takes a time, as a schema names it; nil if that is none of its forms. `usual`: the one that counts
    /// where the document says and shows nothing.
    static func form(of parameter: APIOperation.Parameter, usual: String = "iso") -> String? {
        let description = parameter.description ?? ""
        let text = description.lowercased()
        let example = parameter.shape.example?.text ?? ""
        let isDigits = example.allSatisfy(\.isNumber)
        let epoch = text.contains("milli") || isDigits && example.count == 13 ? "epoch_ms" : "epoch"
        if parameter.shape.isNumber || isDigits && [10, 13].contains(example.count) { return epoch }
        if parameter.shape.format == "date" { return "date" }
        if isISO(text) || parameter.shape.format == "date-time" { return "iso" }
        if text.contains(/unix|epoch/) { return epoch }
        if let pattern = pattern(in: description) {
            return pattern.isDay
                ? pattern.isISO ? "date" : pattern.source : pattern.source.contains("T") ? "iso" : pattern.source
        }
        if isOther(parameter.shape) || isOther(description) { return nil }
        return example.isEmpty ? usual : "iso"
    }

    /// `YYYY-MM-DD HH:mm:ss` or, as PHP has it, `d/m/Y H:i:s` in a description.
    private static func pattern(in description: String) -> TimePattern? {
        let words = /(?i)\b(yyyy|dd|mm)([-\/.])(mm|dd)\2(yyyy|dd)(?:([ T])hh:mm(:ss)?(Z)?)?/
        if let found = description.firstMatch(of: words) {
            let day = [found.1, found.3, found.4].map { Self.letters[$0.lowercased().prefix(1)] ?? "" }
            let time = found.5.map { "\($0)HH:mm\(found.6 == nil ? "" : ":ss")\(found.7 == nil ? "" : "Z")" } ?? ""
            return TimePattern(day.joined(separator: String(found.2)) + time)
        }
        let letters = /\b([dmY])([-\/.])([dmY])\2([dmY])(?: H:i(:s)?)?\b/
        guard let found = description.firstMatch(of: letters) else { return nil }
        let day = [found.1, found.3, found.4].map { Self.letters[$0.lowercased()[...]] ?? "" }
        let time = found.0.contains("H:i") ? " HH:mm\(found.5 == nil ? "" : ":ss")" : ""
        return TimePattern(day.joined(separator: String(found.2)) + time)
    }

    private static let letters: [Substring: String] = ["y": "yyyy", "m": "MM", "d": "dd"]
}
