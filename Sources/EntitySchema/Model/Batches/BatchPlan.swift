/// How several changes go out as one request, and where its answer has the result of each.
package struct BatchPlan: Sendable, Equatable {
    /// How a result is matched with its change.
    package enum Match: Sendable, Equatable {
        /// The results have the order of the elements, and there are as many.
        case order
        /// The result repeats a value of the element.
        case value(at: Place, ValueTemplate)
    }

    package var method: String
    package var path: String
    /// Of the whole body.
    package var mediaType: String
    /// The most changes in one request.
    package var size: Int
    /// The most bytes of all elements together.
    package var bytes: Int
    /// What is sent around the elements (`$changes`).
    package var body: BatchTemplate
    /// What one change is; an operation without an element is not batched.
    package var elements: [Operation: BatchTemplate]
    /// Where the answer has the list of results.
    package var results: Place
    package var match: Match
    /// Where a result has its status; nil if results have none.
    package var status: Place?
    /// Where a result has what the change's own route would answer.
    package var answer: Place
    /// Where that has the record, if not where the route has it.
    package var record: Place?
    /// Where that has the text of an error, if not where the upstream has it.
    package var error: Place?
    /// Either all elements are applied, or none.
    package var isAtomic: Bool

    /// The values of a change that an element may name, without the `$`.
    static let valueNames: Set<String> = ["method", "path", "operation", "id", "key", "type", "version"]

    static let usualSize = 50
    static let usualBytes = 1 << 20

    /// As in the schema; distinguishes one batch route from another.
    package var call: String { "\(method) \(path)" }

    /// Whether the element of an operation carries the version that a change is based on.
    package func hasVersion(_ operation: Operation) -> Bool {
        elements[operation]?.names.contains(.value("version")) ?? false
    }

    /// The fields of the record that elements and results name.
    var fieldNames: Set<String> {
        var names = elements.values.flatMap(\.names)
        if case .value(_, let template) = match { names += template.placeholders.map(\.name) }
        return Set(names.compactMap { if case .field(let name) = $0 { name } else { nil } })
    }
}
