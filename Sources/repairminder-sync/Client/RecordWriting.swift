import JSONText
import LocalAPI

/// What `set` and `create` have in common: how fields are written, and what helps when the daemon refuses one.
enum RecordWriting {
    static let convention = """
        field=text sets text, field:=json anything else: total:=129.90, urgent:=true, notes:=null, tags:='["a"]'.
        """

    /// Adds to a refusal how a field that was sent as text is sent as the JSON it looks like.
    static func explaining<Answer>(
        _ arguments: [String], _ write: () async throws(LocalAPIError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        do {
            return try await write()
        } catch {
            var failure = CommandFailure(error)
            if case .problem(let problem) = error {
                let refused = Set(problem.errors.map(\.field))
                failure.message += hints(arguments, refused: refused).map { "\n  \($0)" }.joined()
            }
            throw failure
        }
    }

    private static func hints(_ arguments: [String], refused: Set<String>) -> [String] {
        arguments.compactMap { argument in
            guard let field = try? FieldArgument(argument), field.isText, refused.contains(field.name),
                let text = field.value.string, let json = try? JSONText(parsing: text)
            else { return nil }
            return "\(field.name) was sent as text; \(field.name):=\(json.text) sends it as JSON"
        }
    }
}
