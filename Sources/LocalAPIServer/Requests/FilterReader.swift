internal import CacheStore
internal import EntitySchema

/// Reads the filters of a list: parameters such as `status=ready,open`, `total.gte=100`, `client.email.starts=ada` and
/// `or=(status.eq.ready,total.gte.100)`.
struct FilterReader {
    let entity: Entity

    /// In one request: each costs the database a comparison for every row that it looks at.
    private static let mostComparisons = 50
    /// In one comparison.
    static let mostValues = 1000

    /// What the parameter means.
    func condition(_ name: String, _ value: String) throws(Problem) -> FilterCondition {
        guard name.utf8.contains(UInt8(ascii: ".")) else {
            if let word = FilterExpression.Word(rawValue: name), !entity.isListed(name) {
                return try FilterExpression.condition(value, joinedBy: word, parameter: name)
            }
            guard entity.isListed(name) else { throw unknown(name, of: name) }
            return FilterCondition(field: name, comparison: .among, values: try Self.plainList(value, name))
        }
        var path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if path.count == 2, path[0] == "not", let word = FilterExpression.Word(rawValue: path[1]) {
            return .not(try FilterExpression.condition(value, joinedBy: word, parameter: name))
        }
        guard entity.listed(path[0]) != nil || entity[relation: path[0]] != nil else {
            throw unknown(path[0], of: name)
        }
        let operation = path.count > 1 ? path.last.flatMap(FilterComparison.Operation.init(rawValue:)) : nil
        if operation != nil { path.removeLast() }
        let isNegated = operation != nil && path.count > 1 && path.last == "not"
        if isNegated { path.removeLast() }
        let values = try values(value, operation, name)
        try requirePath(path, name)
        let comparison = FilterCondition.comparison(
            FilterComparison(
                parameter: path.joined(separator: "."), path: path, operation: operation ?? .among, values: values))
        return isNegated ? .not(comparison) : comparison
    }

    /// Throws if there are more comparisons than one request may have.
    static func checkSize(of query: ListQuery) throws(Problem) {
        let count = query.filters.reduce(0) { $0 + $1.comparisons.count }
        guard count <= mostComparisons else {
            throw Problem(.invalidParameter, "a list takes at most \(mostComparisons) comparisons; these are \(count)")
        }
    }

    // MARK: Names

    /// `field` is the name of the parameter up to its first dot.
    private func unknown(_ field: String, of parameter: String) -> Problem {
        if let meant = meantComparison(field) {
            let message = "\(entity.name) has no field \(field.prefix(100)); write \(meant)=…"
            return .parameter(parameter, message, .unknownParameter)
        }
        if field == parameter, case .one(let key)? = entity[relation: field]?.kind {
            let message = "\(field) is a relation of \(entity.name); write \(key)=… for the other record's id, "
            return .parameter(parameter, message + "or a field of that record, as in \(field).id", .unknownParameter)
        }
        let relations = entity.relations.filter { if case .one = $0.kind { true } else { false } }.map(\.name)
        let others = field == parameter ? QueryParameters.ofLists : relations
        let known = entity.fields.map(\.name) + [Entity.syncedAt.name] + others
        let near = Suggestion.hint(for: field, among: known, else: ".")
        let message = "\(entity.name) has no field \(field.prefix(100))\(near) Besides filters, lists take "
        return .parameter(parameter, message + QueryParameters.ofLists.joined(separator: ", "), .unknownParameter)
    }

    /// The comparison that a sign stands for, as in `total>=100` or `status!=open`, where `=` has ended the name.
    private func meantComparison(_ field: String) -> String? {
        guard let sign = field.firstIndex(where: { "<>!~".contains($0) }) else { return nil }
        guard entity.isListed(String(field[..<sign])) else { return nil }
        // Without a value behind it, the sign stood before the `=`.
        let isBeforeEquals = field.index(after: sign) == field.endIndex
        let operation: FilterComparison.Operation =
            switch field[sign] {
            case "<": isBeforeEquals ? .atMost : .less
            case ">": isBeforeEquals ? .atLeast : .greater
            case "!": .notEqual
            default: .contains
            }
        return "\(field[..<sign]).\(operation.rawValue)"
    }

    /// A name that ends with no comparison leads to a related record or into an object.
    private func requirePath(_ path: [String], _ name: String) throws(Problem) {
        guard path.count > 1, let field = entity.listed(path[0]), entity[relation: path[0]] == nil else { return }
        if case .object = field.kind { return }
        let known = FilterComparison.Operation.allCases.map(\.rawValue)
        let wrong = path.dropFirst().first { !known.contains($0) } ?? path[1]
        guard wrong != "not" else {
            throw .parameter(name, "not stands before a comparison, as in \(path[0]).not.eq")
        }
        let near =
            Self.habits[wrong.lowercased()].map { "; did you mean \($0.rawValue)?" }
            ?? Suggestion.hint(for: wrong, among: known, else: ".")
        throw .parameter(
            name, "there is no comparison \(wrong.prefix(50))\(near) Use one of \(known.joined(separator: ", "))")
    }

    /// What other APIs call the comparisons.
    private static let habits: [String: FilterComparison.Operation] = [
        "like": .contains, "ilike": .contains, "icontains": .contains, "includes": .has, "any": .has,
        "startswith": .starts, "starts_with": .starts, "istartswith": .starts, "prefix": .starts,
        "is": .null, "isnull": .null, "exists": .null, "neq": .notEqual, "noteq": .notEqual, "not_in": .notAmong,
        "on": .atLeast, "between": .atLeast, "range": .atLeast, "since": .atLeast, "from": .atLeast, "min": .atLeast,
        "after": .greater, "until": .atMost, "to": .atMost, "max": .atMost, "before": .less,
    ]

    // MARK: Values

    private func values(_ text: String, _ operation: FilterComparison.Operation?, _ name: String) throws(Problem)
        -> [String]
    {
        switch operation {
        case nil: return try Self.plainList(text, name)
        case .among, .notAmong: return try FilterExpression.values(text, parameter: name)
        case .notEqual, .less, .atMost, .greater, .atLeast:
            guard !text.utf8.contains(UInt8(ascii: ",")) else { throw oneValue(operation, name) }
            return [text]
        case .equal, .null, .starts, .contains, .has: return [text]
        }
    }

    private func oneValue(_ operation: FilterComparison.Operation?, _ name: String) -> Problem {
        let path = name.split(separator: ".").dropLast().joined(separator: ".")
        let hint =
            operation == .notEqual
            ? "for none of several values use \(path).nin, for a text with a comma \(path).not.eq"
            : "write a text with a comma as and=(\(name).\"…,…\")"
        return .parameter(name, "\(name.prefix(100)) takes one value; \(hint)")
    }

    /// Any of these: commas separate them, whatever they are.
    private static func plainList(_ text: String, _ name: String) throws(Problem) -> [String] {
        guard text.utf8.contains(UInt8(ascii: ",")) else { return [text] }
        let values = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        try requireFew(values, name)
        return values
    }

    static func requireFew(_ values: [String], _ name: String) throws(Problem) {
        guard values.count <= mostValues else {
            throw .parameter(name, "\(name.prefix(100)) takes at most \(mostValues) values")
        }
    }
}
