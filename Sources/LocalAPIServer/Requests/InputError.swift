internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// What is wrong with one part of a request: an element of `errors` in a problem document.
struct InputError: Sendable {
    /// The part of the request that has it.
    enum Place: String, CaseIterable, Sendable {
        case query, header, body

        /// The code of different mistakes in it.
        var code: ProblemCode {
            switch self {
            case .query: .invalidParameter
            case .header: .invalidHeader
            case .body: .invalidBody
            }
        }
    }

    /// A code of `FieldProblem` for a field of the body, else one of `ProblemCode`.
    var code: String
    var place: Place
    /// The name of the parameter, the header field or the member of the body; empty for the whole body.
    var field: String
    var message: String
    /// A JSON pointer to the object of the body that has the member; empty for the body itself.
    var container = ""

    init(_ code: String, in place: Place, _ field: String, _ message: String) {
        self.code = code
        self.place = place
        self.field = field
        self.message = message
    }

    init(_ problem: FieldProblem, in place: Place) {
        self.init(problem.code.rawValue, in: place, problem.field, problem.message)
    }

    /// More members of one object are not listed: a caller needs some of them, however many there are.
    private static let mostStrays = 100

    /// The members that are not among `known`, and those that are there twice. `container`: a pointer to their object.
    static func strays(among members: [String], known: [String], in container: String = "") -> [InputError] {
        var strays: [InputError] = []
        for (index, name) in members.enumerated() {
            guard strays.count < mostStrays else { break }
            let message: String
            if !known.contains(name) {
                let near = Suggestion.hint(for: name, among: known, else: ".")
                message = "there is no such member\(near) Use \(known.joined(separator: ", "))"
            } else if members[..<index].contains(name) {
                message = "it is there twice"
            } else {
                continue
            }
            var error = InputError(ProblemCode.invalidBody.rawValue, in: .body, name, message)
            error.container = container
            strays.append(error)
        }
        return strays
    }

    /// The message, after the name of the part if it does not have it.
    var detail: String {
        let name = field.prefix(50)
        return message.contains(name) ? message : "\(name): \(message)"
    }

    var document: JSONText {
        .object([
            "code": .string(code), "in": .string(place.rawValue), "pointer": .string(pointer),
            "field": .string(field), "message": .string(message),
        ])
    }

    /// A JSON pointer into the body (RFC 6901); elsewhere the name.
    var pointer: String {
        guard place == .body else { return field }
        guard !field.isEmpty else { return container }
        return "\(container)/" + field.replacing("~", with: "~0").replacing("/", with: "~1")
    }
}
