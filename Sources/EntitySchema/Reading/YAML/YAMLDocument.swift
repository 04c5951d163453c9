package import Yams

/// Reads YAML from anywhere, within bounds.
package enum YAMLDocument {
    /// The root, or nil for an empty document; throws `YAMLError`.
    ///
    /// Aliases are replaced by their values, and the result has at most `limit` values and keys. Keys are scalars.
    package static func root(of yaml: String, limit: Int = 100_000) throws -> Node? {
        try YAMLScan.check(yaml, limit: limit)
        do {
            // Without Yams's regular expressions for the types of plain text, which take milliseconds to compile.
            return try Yams.compose(yaml: yaml, .basic)
        } catch {
            throw YAMLError(error)
        }
    }
}

/// Why a text is not read as YAML.
package struct YAMLError: Error, CustomStringConvertible {
    /// From 1; nil if it is not known.
    package var line: Int?
    package var problem: String

    package var description: String { line.map { "line \($0): \(problem)" } ?? problem }
}

extension YAMLError {
    /// Quotes nothing of the text but keys, as a line can be as long as the text.
    fileprivate init(_ error: any Error) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(line: mark.line, problem: YAMLAdvice.problem(problem))
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.joined(separator: ", ").prefix(200)
            self.init(line: context.mark.line, problem: "duplicate key in this mapping: \(names)")
        case .reader(let problem, _, let value, _):
            self.init(problem: value < 0 ? problem : "\(problem) (U+\(String(value, radix: 16, uppercase: true)))")
        default: self.init(problem: String("\(error)".prefix(200)))
        }
    }
}
