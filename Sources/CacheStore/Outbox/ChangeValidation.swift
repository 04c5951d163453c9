internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// Checks a local write against the schema before it is queued, so that a malformed change is refused while the caller
/// still waits for the answer.
struct ChangeValidation {
    let table: EntityTable

    private var entity: Entity { table.entity }

    /// More are not listed: a caller needs some of them, however many fields there are.
    private static let mostProblems = 100

    /// Returns one problem per field, up to a hundred; empty when the body may be queued. `record` is the whole record with
    /// the change applied, `sendable` what can be sent of it; nil for all.
    func problems(in body: JSONText, operation: Operation, record: JSONText, sendable: [String]?) -> [FieldProblem] {
        guard body.kind == .object else {
            return [FieldProblem(field: "", message: "expected a JSON object", code: .wrongType)]
        }
        var problems: [FieldProblem] = []
        var seen: Set<String> = []
        let members = body.members
        for (name, value) in members {
            guard problems.count < Self.mostProblems else { return problems }
            if members.count > 1, !seen.insert(name).inserted {
                problems.append(
                    FieldProblem(field: name, message: "the body has this field twice", code: .repeatedField))
            } else if let problem = problem(with: value, of: name, operation: operation, sendable: sendable) {
                problems.append(problem)
            }
        }
        guard operation == .create else { return problems }
        if case .reference(let other)? = entity[field: entity.key]?.kind, body[entity.key] == nil {
            problems.append(
                FieldProblem(
                    field: entity.key, message: "a new record needs this field, the key of a record of \(other)",
                    code: .missingField))
        }
        for field in entity.fields where field.required && field.name != entity.key && record[field.name] == nil {
            problems.append(
                FieldProblem(field: field.name, message: "a new record needs this field", code: .missingField))
        }
        return problems
    }

    private func problem(
        with value: JSONText, of name: String, operation: Operation, sendable: [String]?
    ) -> FieldProblem? {
        func problem(_ code: FieldProblem.Code, _ message: String) -> FieldProblem {
            FieldProblem(field: name, message: message, code: code)
        }
        guard let field = entity[field: name] else {
            let hint = Suggestion.hint(for: name, among: entity.fields.map(\.name))
            return problem(.unknownField, "\(entity.name) has no such field" + hint)
        }
        if field.isDerivedHere { return problem(.readOnlyField, "this field is computed and cannot be written") }
        if operation == .update && name == entity.key {
            return problem(.readOnlyField, "the key of a record cannot be changed")
        }
        if operation == .create, name == entity.key, let form = entity.keyForm, !form.accepts(value.plain) {
            return problem(.invalidKey, form.expectation)
        }
        if operation == .create && name == entity.key && Entity.key(value) == nil {
            let expected =
                field.kind == .integer
                ? "expected a whole number"
                : "expected a key of 1 to \(Entity.longestKey) characters, without NUL and halves of surrogate pairs, "
                    + "other than . and .."
            return problem(.invalidKey, "\(expected); leave it out to have one generated")
        }
        if let sendable, !sendable.contains(name) {
            // Without the key that the upstream makes, which a creation may not have.
            let others = sendable.filter { $0 != entity.key || entity.keyForm != .server }.sorted()
                .joined(separator: ", ")
            return problem(.unsendableField, "the upstream does not accept this field here; it accepts \(others)")
        }
        if value.kind == .null {
            return field.required ? problem(.nullNotAllowed, "this field cannot be null") : nil
        }
        if field.isNeverEmpty, value.string?.isEmpty == true {
            return problem(.invalidValue, "this field cannot be an empty text")
        }
        return mismatch(value, field).map { problem(Self.code(of: field), $0) }
    }

    /// The code of a value that does not fit the field.
    private static func code(of field: Field) -> FieldProblem.Code {
        if case .enum = field.kind { .unknownValue } else { .wrongType }
    }

    private func mismatch(_ given: JSONText, _ field: Field) -> String? {
        let value = field.meant(given)
        // An error message must not repeat a secret: the caller may log it. Computed, because most values have no message.
        var shown: String {
            field.isStoredSealed ? " another type" : value.bytes.count <= 80 ? " \(value.text)" : ""
        }
        switch field.kind {
        case .string: return value.kind == .string ? nil : "expected text, got\(shown)"
        case .integer: return value.integer != nil ? nil : "expected a whole number, got\(shown)"
        case .number, .money: return value.kind == .number ? nil : "expected a number, got\(shown)"
        case .boolean: return value.kind == .boolean ? nil : "expected true or false, got\(shown)"
        case .time:
            let isTime = value.string.flatMap(Timestamp.init(written:)) != nil
            return isTime ? nil : "expected a time in ISO 8601, such as 2026-11-21T10:42:00Z, got\(shown)"
        case .date: return value.isDay ? nil : "expected a day, such as 2026-11-25, got\(shown)"
        case .enum(let values):
            if values.contains(where: { $0.value == value.string }) { return nil }
            let known = values.map(\.value)
            let hint = field.isStoredSealed ? "" : Suggestion.hint(for: value.string ?? "", among: known)
            return "expected one of \(known.joined(separator: ", ")), got\(shown)\(hint)"
        case .reference: return Entity.key(value) != nil ? nil : "expected the key of a record, got\(shown)"
        case .object: return value.kind == .object ? nil : "expected an object, got\(shown)"
        case .list: return value.kind == .array ? nil : "expected a list, got\(shown)"
        }
    }
}
