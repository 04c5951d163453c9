import ArgumentParser
import JSONText
import LocalAPI

/// What `set`, `create` and `queue edit` share: the syntax of fields, and a hint when the daemon rejects one.
enum RecordWriting {
    static let convention = """
        field=text sets text; field:=json sets any other value: total:=129.90, urgent:=true, notes:=null, tags:='["a"]'. \
        field=@file and field:=@file read the value from a file, @- from standard input; write @@ for text that begins with @.
        """

    static let idHelp: ArgumentHelp = "The record's id, or its natural key, such as an order's number."

    static let inputConvention = """
        \(convention)
        A lone - reads the fields from standard input, as one JSON object.
        """

    /// The body of `set` and `create`: the fields, or standard input for a lone `-`.
    static func body(_ fields: [String]) throws(CommandFailure) -> JSONText {
        if fields == ["-"] { return try StandardInput.object() }
        guard !fields.contains("-") else {
            throw CommandFailure(.usage, "- reads the whole record from standard input; leave the other fields out")
        }
        return try FieldArgument.object(fields)
    }

    /// When the daemon rejects a field sent as text that looks like JSON, adds how to send it as JSON. `ofQueue`: the
    /// write is to a change in the queue, so that a conflict may end by itself, as when the change may have arrived.
    static func explaining<Answer>(
        _ arguments: [String] = [], ofQueue: Bool = false, _ write: () async throws(LocalAPIError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        do {
            return try await write()
        } catch {
            var failure = ofQueue ? CommandFailure(error) : CommandFailure(lasting: error)
            if case .problem(let problem) = error {
                let refused = Set(problem.errors.map(\.field)).subtracting(barred(problem))
                failure.message += hints(arguments, refused: refused).map { "\n  \($0)" }.joined()
            }
            throw failure
        }
    }

    /// The fields that are refused with any value.
    private static func barred(_ problem: LocalAPIProblem) -> [String] {
        let codes = ["unknown_field", "read_only_field", "unsendable_field"]
        let errors = problem.document["errors"]?.elements ?? []
        return errors.filter { codes.contains($0["code"]?.string ?? "") }.compactMap { $0["field"]?.string }
    }

    private static func hints(_ arguments: [String], refused: Set<String>) -> [String] {
        arguments.compactMap { argument in
            guard let field = try? FieldArgument(argument), refused.contains(field.name),
                case .text(let text) = field.source, let json = try? JSONText(parsing: text)
            else { return nil }
            return "\(field.name) was sent as text; to send it as JSON, write \(field.name):=\(json.text)"
        }
    }
}
