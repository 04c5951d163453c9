internal import CacheStore
internal import EntitySchema
internal import JSONText

/// Reads the operations of a batch in order, and collects their mistakes.
struct BatchReader {
    let schema: EntitySchema
    private var number = 0
    /// The local id of each creation so far, with its number and entity.
    private var creations: [String: (number: Int, entity: String)] = [:]
    private var mistakes: [InputError] = []
    /// The fields of each entity so far that are references, and what they refer to.
    private var referring: [String: [(field: String, target: String)]] = [:]

    private enum Member: String {
        case operation, entity, id, lid, body, merge
        case ifMatch = "if_match"
    }

    init(schema: EntitySchema) { self.schema = schema }

    func throwAny() throws(Problem) {
        guard let first = mistakes.first else { return }
        let others = mistakes.count > 1 ? "; see errors for \(mistakes.count - 1) more" : ""
        throw Problem(.invalidBody, "\(first.pointer): \(first.message)\(others)", errors: mistakes)
    }

    // MARK: Operations

    /// Nil for one that cannot be read.
    mutating func operation(_ given: JSONText) -> BatchOperation? {
        defer { number += 1 }
        guard given.kind == .object else {
            note("", "expected an object", at: place)
            return nil
        }
        let members = given.members
        func value(_ member: Member) -> JSONText? { members.last { $0.key == member.rawValue }?.value }
        guard let kind = value(.operation)?.string.flatMap(BatchOperation.Kind.init(rawValue:)) else {
            noteKind(value(.operation))
            // Probably a creation: what refers to it is no mistake of its own.
            if let lid = value(.lid) { add(lid, value(.entity)?.string ?? "") }
            return nil
        }
        let names = members.map(\.key)
        // The place is a text of its own, which hardly any operation needs.
        if !InputError.strays(among: names, known: kind.members).isEmpty {
            requireKnown(names, among: kind.members, at: place)
        }
        let entity = text(value(.entity), "entity") ?? ""
        let body = kind == .delete ? .object([:]) : object(value(.body))
        let operation = BatchOperation(
            kind: kind, entity: entity, target: kind == .create ? nil : target(value(.id), entity), body: body,
            references: references(in: body, of: entity), merges: merges(value(.merge)),
            expected: expected(value(.ifMatch)))
        if kind == .create, let lid = value(.lid) { add(lid, entity) }
        return operation
    }

    private mutating func noteKind(_ value: JSONText?) {
        let kinds = BatchOperation.Kind.allCases.map(\.rawValue)
        let hint = Suggestion.hint(for: value?.string ?? "", among: kinds)
        note("operation", "expected one of \(kinds.joined(separator: ", "))\(hint)", at: place)
    }

    private mutating func text(_ value: JSONText?, _ name: String) -> String? {
        guard let text = value?.string, !text.isEmpty else {
            note(name, "expected text", at: place)
            return nil
        }
        return text
    }

    private mutating func object(_ value: JSONText?) -> JSONText {
        guard let value, value.kind == .object else {
            note("body", "expected an object with the fields of the record", at: place)
            return .object([:])
        }
        return value
    }

    private mutating func merges(_ value: JSONText?) -> Bool {
        guard let value else { return false }
        if value.kind != .boolean { note("merge", "expected true or false", at: place) }
        return value.boolean ?? false
    }

    private mutating func expected(_ value: JSONText?) -> ExpectedVersion? {
        guard let value else { return nil }
        guard let expected = value.string.flatMap({ EntityTag.expected([$0]) }) else {
            note("if_match", "expected \(EntityTag.forms)", at: place)
            return nil
        }
        return expected
    }

    // MARK: Records

    private mutating func target(_ value: JSONText?, _ entity: String) -> BatchOperation.Target? {
        if let value, let lid = Self.lid(value) {
            return creation(lid, of: entity, "id", at: place).map { .made(by: $0) }
        }
        let key = value.flatMap { $0.kind == .string || $0.kind == .number ? $0.plain : nil } ?? ""
        guard !key.isEmpty else {
            note("id", "expected the key of a record, or {\"lid\": …} of one that this batch creates", at: place)
            return nil
        }
        return .key(key)
    }

    /// The fields of the body that are references of the form `{"lid": …}`. In other fields such an object is a value.
    private mutating func references(in body: JSONText, of entity: String) -> [(field: String, creation: Int)] {
        var found: [(field: String, creation: Int)] = []
        for (field, target) in references(of: entity) {
            guard let lid = body[field].flatMap(Self.lid) else { continue }
            guard let creation = creation(lid, of: target, field, at: "\(place)/body") else { continue }
            found.append((field, creation))
        }
        return found
    }

    private mutating func references(of entity: String) -> [(field: String, target: String)] {
        if let known = referring[entity] { return known }
        let found = schema[entity]?.references ?? []
        referring[entity] = found
        return found
    }

    private static func lid(_ value: JSONText) -> String? {
        guard value.kind == .object, value.members.count == 1 else { return nil }
        return value["lid"]?.string
    }

    /// The number of the operation that creates the record with this local id.
    private mutating func creation(_ lid: String, of entity: String, _ name: String, at container: String) -> Int? {
        let shown = lid.start(scalars: 100)
        guard let creation = creations[lid] else {
            note(name, "no earlier operation creates a record with the lid \(shown)", at: container)
            return nil
        }
        guard creation.entity == entity else {
            note(name, "the lid \(shown) is a record of \(creation.entity), not of \(entity)", at: container)
            return nil
        }
        return creation.number
    }

    private mutating func add(_ lid: JSONText, _ entity: String) {
        guard let name = text(lid, "lid") else { return }
        if let other = creations[name] {
            note("lid", "operation \(other.number) has this lid already; each needs one of its own", at: place)
        } else {
            creations[name] = (number, entity)
        }
    }

    // MARK: Mistakes

    private var place: String { "/operations/\(number)" }

    /// `container`: a pointer to the object that should have the member.
    mutating func note(_ name: String, _ message: String, at container: String) {
        guard mistakes.count < BatchRequest.mostMistakes else { return }
        var mistake = InputError(ProblemCode.invalidBody.rawValue, in: .body, name, message)
        mistake.container = container
        mistakes.append(mistake)
    }

    mutating func requireKnown(_ names: [String], among known: [String], at container: String) {
        mistakes += InputError.strays(among: names, known: known, in: container)
            .prefix(BatchRequest.mostMistakes - mistakes.count)
    }
}
