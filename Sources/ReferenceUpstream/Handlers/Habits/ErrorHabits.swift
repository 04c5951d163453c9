internal import EntitySchema
internal import JSONText

/// Rewrites errors as well-known frameworks answer them.
struct ErrorHabits {
    let schema: EntitySchema
    let habits: Habits

    /// Nil when the answer is no error or no framework is set.
    func changed(_ answer: Answer) -> (Answer, Habit)? {
        guard answer.status >= 400, let style = habits.first(of: [.frameworkErrors, .pocketErrors, .laravelErrors]),
            let body = try? JSONText(answer.body)
        else { return nil }
        let message = (schema.upstream.errorMessage?.value(in: body) ?? body["error"])?.plain ?? ""
        var changed = answer
        changed.body = Array(text(style, message, answer.status).bytes)
        return (changed, style)
    }

    private func text(_ style: Habit, _ message: String, _ status: Int) -> JSONText {
        let field = field(of: message)
        switch style {
        case .frameworkErrors:
            guard let field else { return .object(["detail": .string(message)]) }
            return .object(members: [(field, .array([.string(message)]))])
        case .pocketErrors:
            let reason = JSONText.object(["code": "validation_invalid_value", "message": .string(message)])
            let data = JSONText.object(members: field.map { [($0, reason)] } ?? [])
            let summary = field == nil ? message : "Failed to write the record."
            return .object(["code": .integer(status), "message": .string(summary), "data": data])
        default:
            guard let field else { return .object(["message": .string(message)]) }
            let errors = JSONText.object(members: [(field, .array([.string(message)]))])
            return .object(["message": "The given data was invalid.", "errors": errors])
        }
    }

    /// The field that a message begins with.
    private func field(of message: String) -> String? {
        let word = String(message.prefix { $0 != " " && $0 != ":" })
        return schema.entities.contains { $0[field: word] != nil } ? word : nil
    }
}
