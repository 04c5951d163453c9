package import JSONText

/// Where in an answer something stands: names separated by dots, and what else upstreams have called it.
package struct Place: Sendable, Equatable {
    /// The first that is there counts; the empty path is the answer itself.
    package var paths: [String]

    package static let itself = Place(paths: [""])

    package init(paths: [String]) {
        self.paths = paths
    }

    /// Null counts as absent.
    package func value(in answer: JSONText) -> JSONText? {
        for path in paths {
            if let value = answer.at(path: path), value.kind != .null { return value }
        }
        return nil
    }

    package var description: String { paths.map { $0.isEmpty ? "the answer" : $0 }.joined(separator: " or ") }
}
