internal import JSONText
internal import SocketServer

/// Collects the mistakes of a request, so that its caller learns of all of them at once.
struct Mistakes {
    /// More are not listed: a caller needs some of them, however many there are, and each takes time and memory.
    static let most = 100

    private var problems: [Problem] = []

    /// What `read` returns, or `standard` after a mistake.
    mutating func collect<Value>(_ standard: Value, _ read: () throws(Problem) -> Value) -> Value {
        do throws(Problem) {
            return try read()
        } catch {
            add([error])
            return standard
        }
    }

    mutating func collect<Value>(_ standard: Value, _ read: @autoclosure () throws(Problem) -> Value) -> Value {
        collect(standard, read)
    }

    mutating func collect(_ read: () throws(Problem) -> Void) { collect((), read) }

    mutating func collect(_ read: @autoclosure () throws(Problem) -> Void) { collect((), read) }

    mutating func add(_ more: [Problem]) { problems += more.prefix(Self.most - problems.count) }

    /// Adds a problem if it is about the input; any other shows only once the input is right.
    mutating func addInput(_ problem: Problem) {
        if !problem.errors.isEmpty { add([problem]) }
    }

    var isEmpty: Bool { problems.isEmpty }

    /// There are as many as are listed, so no more need be looked for.
    var isFull: Bool { problems.count == Self.most }

    /// All that are listed; there is at least one.
    var problem: Problem { Problem(problems) }

    func throwAny() throws(Problem) {
        if !isEmpty { throw problem }
    }
}

// MARK: Bodies

extension Mistakes {
    /// The body as a JSON object. If it is none, throws all mistakes so far and this one: a write without its body has no
    /// more to check.
    mutating func object(_ request: Request) throws(Problem) -> JSONText {
        let body: JSONText? = collect(.none, try Self.object(request))
        guard let body else { throw problem }
        return body
    }

    private static func object(_ request: Request) throws(Problem) -> JSONText {
        guard !request.body.isEmpty else { throw .body("", "the body is empty; send a JSON object", .incompleteBody) }
        let body: JSONText
        do throws(JSONError) {
            body = try JSONText(request.body)
        } catch {
            throw .body("", "the body is \(error)", .malformedJSON)
        }
        guard body.kind == .object else { throw .body("", "expected a JSON object") }
        return body
    }

    /// The value of a member that the body must have, as `read` understands it; nil after a mistake.
    mutating func member<Value>(
        _ name: String, of body: JSONText, _ expectation: String, _ read: (JSONText) -> Value?
    ) -> Value? {
        guard let value = body[name].flatMap(read) else {
            add([.body(name, expectation)])
            return nil
        }
        return value
    }

    /// Notes the members of the body that are not among `known`, and those that it has twice.
    mutating func requireOnly(_ known: [String], in body: JSONText) {
        add(InputError.strays(among: body.members.map(\.key), known: known).map(Problem.init))
    }
}
