internal import SQLiteStore

/// A condition of a list: a comparison of the entity's own fields, of fields of related records or of places inside objects, or
/// several combined.
package indirect enum FilterCondition: Sendable, Equatable {
    case comparison(FilterComparison)
    case all([FilterCondition])
    case any([FilterCondition])
    case not(FilterCondition)

    /// Those that it consists of.
    package var comparisons: [FilterComparison] {
        switch self {
        case .comparison(let comparison): [comparison]
        case .all(let conditions), .any(let conditions): conditions.flatMap(\.comparisons)
        case .not(let condition): condition.comparisons
        }
    }

    /// Whether the search index can find its records.
    var usesSearch: Bool {
        switch self {
        case .comparison(let comparison): comparison.operation.isOfText
        case .all(let conditions), .any(let conditions): conditions.contains(where: \.usesSearch)
        case .not(let condition): condition.usesSearch
        }
    }

    /// What distinguishes it from others.
    var identity: [String] {
        switch self {
        case .comparison(let comparison): comparison.identity
        case .all(let conditions): ["and", "\(conditions.count)"] + conditions.flatMap(\.identity)
        case .any(let conditions): ["or", "\(conditions.count)"] + conditions.flatMap(\.identity)
        case .not(let condition): ["not"] + condition.identity
        }
    }
}

extension FilterCondition {
    /// A comparison of a field of the entity's own.
    package init(field: String, comparison: FilterComparison.Operation, values: [String]) {
        self = .comparison(
            FilterComparison(parameter: field, path: [field], operation: comparison, values: values))
    }
}

/// One comparison of a value with what the caller wrote. A value that is null or missing meets none but `null`, and no
/// negation of another.
package struct FilterComparison: Sendable, Equatable {
    package enum Operation: String, Sendable, Equatable, CaseIterable {
        case equal = "eq"
        case notEqual = "ne"
        /// One of several values, and none of them.
        case among = "in"
        case notAmong = "nin"
        case less = "lt"
        case atMost = "lte"
        case greater = "gt"
        case atLeast = "gte"
        case null
        /// A text that begins with this one, or has it anywhere; A to Z mean the same in either case.
        case starts
        case contains
        /// A list with this element.
        case has

        var isOfText: Bool { self == .starts || self == .contains }
        var isOfWholeValues: Bool { [.equal, .notEqual, .among, .notAmong].contains(self) }
        var isNegation: Bool { self == .notEqual || self == .notAmong }

        /// The operator between a column and one value.
        var sql: String {
            switch self {
            case .less: "<"
            case .atMost: "<="
            case .greater: ">"
            case .atLeast: ">="
            case .notEqual: "<>"
            case .equal, .among, .notAmong, .null, .starts, .contains, .has: "="
            }
        }
    }

    /// The parameter of the request that has it, which an error names.
    package var parameter: String
    /// A field, or the way to it: a relation to one record, and places inside an object.
    package var path: [String]
    package var operation: Operation
    /// As written by the caller; several mean any of them.
    package var values: [String]

    package init(parameter: String, path: [String], operation: Operation, values: [String]) {
        self.parameter = parameter
        self.path = path
        self.operation = operation
        self.values = values
    }

    /// What distinguishes it from others.
    var identity: [String] { ["\(path.count)"] + path + [operation.rawValue, "\(values.count)"] + values }

    var value: String { values.first ?? "" }

    /// Whether it is one of several in a parameter, as in `or=(…)`.
    var isInParentheses: Bool { parameter != path.joined(separator: ".") }

    /// A refusal that names the parameter.
    func refusal(_ message: String) -> CacheError { .badQuery(field: parameter, message: message) }
}
