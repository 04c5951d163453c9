internal import CacheStore

/// Reads conditions in parentheses, as PostgREST writes them: `(status.eq.ready,not.and(total.gte.100,paid.eq.false))`.
///
/// A name or a value in double quotes may have any character; `\` is written before a quote or a `\` in it.
struct FilterExpression {
    enum Word: String { case and, or }

    /// Parentheses in parentheses.
    private static let deepest = 5

    private let parameter: String
    private let bytes: [UInt8]
    private var offset = 0

    private init(_ text: String, _ parameter: String) {
        self.parameter = parameter
        bytes = Array(text.utf8)
    }

    /// The condition of `or=(…)` and `and=(…)`.
    static func condition(_ text: String, joinedBy word: Word, parameter: String) throws(Problem) -> FilterCondition {
        var expression = FilterExpression(text, parameter)
        let condition = try expression.list(word, depth: 1)
        guard expression.offset == expression.bytes.count else { throw expression.refusal("expected the end") }
        return condition
    }

    /// The values of `.in` and `.nin`, with or without parentheses around them.
    static func values(_ text: String, parameter: String) throws(Problem) -> [String] {
        var expression = FilterExpression(text, parameter)
        let hasParentheses = expression.bytes.first == UInt8(ascii: "(") && expression.bytes.last == UInt8(ascii: ")")
        let values = hasParentheses ? try expression.valueList() : try expression.separated(endingAt: nil)
        guard expression.offset == expression.bytes.count else { throw expression.refusal("expected the end") }
        return values
    }

    // MARK: Conditions

    private mutating func list(_ word: Word, depth: Int) throws(Problem) -> FilterCondition {
        guard depth <= Self.deepest else {
            throw .parameter(parameter, "\(parameter) has more than \(Self.deepest) parentheses in one another")
        }
        try expect("(")
        var parts = [try condition(depth)]
        while take(",") { parts.append(try condition(depth)) }
        try expect(")")
        return word == .and ? .all(parts) : .any(parts)
    }

    private mutating func condition(_ depth: Int) throws(Problem) -> FilterCondition {
        while take(" ") {}
        let isNegated = take("not.and(", butOnly: 4) || take("not.or(", butOnly: 4)
        for word in [Word.and, .or] where take("\(word.rawValue)(", butOnly: word.rawValue.utf8.count) {
            let inner = try list(word, depth: depth + 1)
            return isNegated ? .not(inner) : inner
        }
        return try comparison()
    }

    /// `field.eq.value`, `client.email.not.starts.ada`.
    private mutating func comparison() throws(Problem) -> FilterCondition {
        var path = [try name().text]
        var isNegated = false
        while true {
            guard take(".") else {
                throw refusal("expected a dot and a comparison after \(path.joined(separator: "."))")
            }
            let (name, isQuoted) = try name()
            if !isQuoted, let operation = FilterComparison.Operation(rawValue: name) {
                if path.count > 1, path.last == "not" {
                    isNegated = true
                    path.removeLast()
                }
                guard take(".") else { throw refusal("expected a dot and a value after \(name)") }
                let values = operation == .among || operation == .notAmong ? try valueList() : [try value(",)")]
                let comparison = FilterCondition.comparison(
                    FilterComparison(parameter: parameter, path: path, operation: operation, values: values))
                return isNegated ? .not(comparison) : comparison
            }
            path.append(name)
        }
    }

    // MARK: Names and values

    private mutating func name() throws(Problem) -> (text: String, isQuoted: Bool) {
        if peek == UInt8(ascii: "\"") { return (try quoted(), true) }
        let text = plain(upTo: ".,()\"")
        guard !text.isEmpty else { throw refusal("expected a field") }
        return (text, false)
    }

    /// `(a,b)`.
    private mutating func valueList() throws(Problem) -> [String] {
        try expect("(")
        let values = try separated(endingAt: ")")
        try expect(")")
        return values
    }

    private mutating func separated(endingAt end: Unicode.Scalar?) throws(Problem) -> [String] {
        let ends = end.map { ",\($0)" } ?? ","
        var values = [try value(ends)]
        while take(",") { values.append(try value(ends)) }
        try FilterReader.requireFew(values, parameter)
        return values
    }

    private mutating func value(_ ends: String) throws(Problem) -> String {
        if peek == UInt8(ascii: "\"") { return try quoted() }
        let text = plain(upTo: ends)
        guard ends == "," || !text.utf8.contains(UInt8(ascii: "(")) else {
            throw refusal("a value with a parenthesis needs double quotes around it")
        }
        return text
    }

    private mutating func quoted() throws(Problem) -> String {
        offset += 1
        var text: [UInt8] = []
        while let byte = peek {
            offset += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\"), let next = peek {
                offset += 1
                text.append(next)
            } else {
                text.append(byte)
            }
        }
        throw refusal("a double quote has no other at its end")
    }

    private mutating func plain(upTo ends: String) -> String {
        let start = offset
        while let byte = peek, !ends.utf8.contains(byte) { offset += 1 }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    // MARK: Characters

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Whether this text comes next; then it is passed, or its first characters alone.
    private mutating func take(_ text: String, butOnly count: Int? = nil) -> Bool {
        guard bytes[offset...].starts(with: text.utf8) else { return false }
        offset += count ?? text.utf8.count
        return true
    }

    private mutating func expect(_ character: String) throws(Problem) {
        guard take(character) else { throw refusal("expected \(character)") }
    }

    private func refusal(_ message: String) -> Problem {
        let rest = String(decoding: bytes[offset...].prefix(30), as: UTF8.self)
        let place = rest.isEmpty ? "at the end" : "at \(rest)"
        return .parameter(
            parameter,
            "\(parameter): \(message.prefix(150)), \(place); write (status.eq.ready,total.gte.100)")
    }
}
