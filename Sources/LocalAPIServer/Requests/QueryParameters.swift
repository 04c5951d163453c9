internal import CacheStore
internal import EntitySchema
internal import SocketServer

/// A request's query, decoded (`application/x-www-form-urlencoded`), in its order.
struct QueryParameters {
    let items: [(name: String, value: String)]

    init(_ request: Request) throws(Problem) { try self.init(request.query) }

    /// Nil: there is no query.
    init(_ query: String?) throws(Problem) {
        guard let items = PercentCoding.parameters(query),
            items.allSatisfy({ !Self.hasNUL($0.name) && !Self.hasNUL($0.value) })
        else {
            throw Problem(
                .malformedQuery,
                "the query has a broken %-escape, a NUL or too many combining marks in a row, or is not UTF-8 text")
        }
        self.items = items
    }

    /// Through a pointer, because a walk through a `String` takes several times as long.
    static func hasNUL(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    /// The value of a parameter that may occur once; nil when it is missing.
    func value(_ name: String) throws(Problem) -> String? {
        var found: Int?
        // By index, because a walk over the items copies each of them.
        for index in items.indices where items[index].name == name {
            guard found == nil else { throw .parameter(name, "\(name) is given more than once", .repeatedParameter) }
            found = index
        }
        return found.map { items[$0].value }
    }

    func flag(_ name: String) throws(Problem) -> Bool { try optionalFlag(name) ?? false }

    /// Nil when it is missing.
    func optionalFlag(_ name: String) throws(Problem) -> Bool? {
        guard let value = try value(name) else { return nil }
        switch value {
        case "true": return true
        case "false": return false
        default: throw .parameter(name, BooleanText.expectation(value))
        }
    }

    func integer(_ name: String, in range: ClosedRange<Int>, else standard: Int) throws(Problem) -> Int {
        guard let text = try value(name) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            let end = range.upperBound == Int.max ? "on" : "to \(range.upperBound)"
            throw .parameter(name, "expected a whole number from \(range.lowerBound) \(end)")
        }
        return number
    }

    /// What each of several values separated by commas means; nil when the parameter is missing.
    func list<Value>(_ name: String, _ read: (String) throws(Problem) -> Value) throws(Problem) -> [Value]? {
        guard let text = try value(name) else { return nil }
        var values: [Value] = []
        // By bytes, as in `SortTerm.list`: to split by characters takes several times as long.
        for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            values.append(try read(String(Substring(part))))
        }
        return values
    }

    /// The names that a list has; nil when the parameter is missing. An empty one is refused: a script has left it out.
    func names(_ name: String) throws(Problem) -> [String]? {
        try list(name) { (part) throws(Problem) in
            guard !part.isEmpty else { throw .parameter(name, "expected names separated by commas, got an empty one") }
            return part
        }
    }

    /// One value of an enumeration; nil when the parameter is missing. `word`: what messages call such a value.
    func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, called word: String
    ) throws(Problem) -> Value? {
        guard let text = try value(name) else { return nil }
        guard let choice = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue)
            throw .parameter(name, Suggestion.refusal(of: text, word, among: known, listedAfter: "Expected one of"))
        }
        return choice
    }

    /// Some values of an enumeration; nil when the parameter is missing.
    func choices<Value: RawRepresentable<String> & CaseIterable>(_ name: String) throws(Problem) -> [Value]? {
        try list(name) { (part) throws(Problem) in
            guard let value = Value(rawValue: part) else {
                throw .parameter(name, Suggestion.refusal(of: part, name, among: Value.allCases.map(\.rawValue)))
            }
            return value
        }
    }

    /// Notes each plain filter that is there twice: all filters must be met, and `a=1&a=2` is meant as `a=1,2`.
    func refuseRepeatedFilters(except others: [String], _ mistakes: inout Mistakes) {
        let names = items.map(\.name).filter { !others.contains($0) }
        guard names.count > 1 else { return }
        var counts: [String: Int] = [:]
        for name in names where !Self.mayRepeat(name) {
            counts[name, default: 0] += 1
            guard counts[name] == 2 else { continue }
            let message = "\(name.prefix(100)) is given more than once; write several values with commas between them"
            mistakes.add([.parameter(name, message, .repeatedParameter)])
        }
    }

    /// Whether two of these can both be meant: comparisons that are named, and conditions in parentheses.
    private static func mayRepeat(_ name: String) -> Bool {
        let last = name[(name.lastIndex(of: ".").map(name.index(after:)) ?? name.startIndex)...]
        return FilterExpression.Word(rawValue: String(last)) != nil
            || last.startIndex != name.startIndex && FilterComparison.Operation(rawValue: String(last)) != nil
    }

    /// `limit` of a page.
    func pageSize(_ standard: Int, _ mistakes: inout Mistakes) -> Int {
        mistakes.collect(standard, try integer("limit", in: 1...1000, else: standard))
    }

    /// A position in the change log; nil when it is missing.
    func position(_ name: String) throws(Problem) -> Int64? {
        guard let text = try value(name) else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw .parameter(name, "expected a position in the change log, 0 or greater")
        }
        return number
    }
}
