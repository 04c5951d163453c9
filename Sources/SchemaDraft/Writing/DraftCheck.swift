internal import EntitySchema

/// Runs a draft through the reader of schemas, and takes out what it refuses, so that the daemon accepts the rest.
enum DraftCheck {
    /// How much of an entity was taken out before: first what writes, then all that is not needed, then it goes.
    private enum Step: Int {
        case whole, readOnly, bare, gone
    }

    static func accepted(_ model: DraftModel) throws(SchemaDraftError) -> SchemaDraft {
        var model = bounded(model)
        var steps: [String: Step] = [:]
        // Each round takes something out of one entity, or out of the upstream.
        var rounds = 4 * model.entities.count + 8
        while true {
            guard !model.entities.isEmpty else { throw .nothing(nothing(model)) }
            let yaml = DraftWriter(model: model).yaml()
            let settings = Dictionary(model.settings.map { ($0, "1") }) { first, _ in first }
            do throws(SchemaError) {
                let schema = try EntitySchema(yaml: yaml, file: "draft", settings: settings)
                return SchemaDraft(model: model, yaml: yaml, schema: schema)
            } catch {
                rounds -= 1
                guard rounds > 0, takeOut(error, of: &model, &steps) else {
                    throw .nothing("no schema can be drafted: \(error.problem)")
                }
            }
        }
    }

    /// A schema with more fields than these cannot be read, and could hardly be synced.
    private static let mostFields = 6000

    /// Without the lists that are too many.
    private static func bounded(_ model: DraftModel) -> DraftModel {
        var bounded = model
        var fields = 0
        // What writes and has single records before what is only read.
        let isFirst = { (entity: DraftEntity) in entity.create != nil || entity.update != nil || entity.delete != nil }
        for entity in model.entities.filter(isFirst) + model.entities.filter({ !isFirst($0) }) {
            fields += entity.fields.count + 10 + entity.fields.reduce(0) { $0 + $1.size }
            guard fields > mostFields else { continue }
            bounded.leaveOut(
                entity, .tooMany, "the draft is large enough without it; draft it with --only \(entity.name)")
        }
        return bounded
    }

    private static func nothing(_ model: DraftModel) -> String {
        let reasons = model.leftOut.prefix(3).map { "\($0.path): \($0.reason)" }
        return "it has no list of records that can be synced"
            + (reasons.isEmpty ? "" : "; \(reasons.joined(separator: "; "))")
    }

    private static func takeOut(_ error: SchemaError, of model: inout DraftModel, _ steps: inout [String: Step]) -> Bool
    {
        let keys = error.key.split(separator: ".", maxSplits: 3).map(String.init)
        guard keys.first == "entities", keys.count > 1,
            let index = model.entities.firstIndex(where: { $0.name == keys[1] })
        else { return simplify(&model.upstream, error) }
        let name = model.entities[index].name
        let step = Step(rawValue: (steps[name] ?? .whole).rawValue + 1) ?? .gone
        steps[name] = step
        switch step {
        case .whole, .readOnly: makeReadOnly(&model.entities[index], error)
        case .bare: makeBare(&model.entities[index])
        case .gone: model.leaveOut(model.entities[index], .refused, "the daemon refuses \(name): \(error.problem)")
        }
        return true
    }

    private static func simplify(_ upstream: inout DraftUpstream, _ error: SchemaError) -> Bool {
        let plain = DraftUpstream(signIn: Guess(.none, nil))
        guard
            upstream.signIn.value != .none || !upstream.headers.isEmpty || upstream.address != nil
                || upstream.probe != nil || upstream.errorMessage != nil || upstream.idempotencyHeader != nil
                || upstream.hasEntityTags != nil
        else { return false }
        let todos = upstream.todos + ["upstream: the daemon refuses what was found (\(error.problem))"]
        upstream = plain
        upstream.todos = todos
        return true
    }

    private static func makeReadOnly(_ entity: inout DraftEntity, _ error: SchemaError) {
        let had = entity.create != nil || entity.update != nil || entity.delete != nil
        (entity.create, entity.update, entity.otherUpdate, entity.delete) = (nil, nil, nil, nil)
        entity.keyMade = nil
        if had { entity.todos.append("push: left out, because the daemon refuses it (\(error.problem))") }
    }

    private static func makeBare(_ entity: inout DraftEntity) {
        let whole = entity
        entity.fields = whole.fields.filter { isNeeded($0, by: whole) }.map { field in
            guard field.kind.isReference, whole.below == nil else { return field }
            return DraftField(field.name, .simple("string"), from: field.from, wireName: field.wireName)
        }
        entity.title = nil
        entity.pull?.since = nil
        entity.pull?.deleted = nil
    }

    /// Whether it is the key, the reference to the parent, or part of the path of the single record.
    private static func isNeeded(_ field: DraftField, by entity: DraftEntity) -> Bool {
        if field.name == entity.key.value || field.name == entity.ownKey { return true }
        if field.kind.isReference && entity.below != nil { return true }
        guard case .path(let path, _) = entity.pull?.single else { return false }
        return path.contains("{\(field.name)}")
    }
}

extension DraftModel {
    /// Takes out an entity and all below it, and makes references to them plain fields.
    mutating func leaveOut(_ entity: DraftEntity, _ why: LeftOut.Why, _ reason: String) {
        entities.removeAll { $0.name == entity.name }
        leftOut.append(LeftOut(path: entity.path, why: why, reason: reason))
        for child in entities where child.below?.parent == entity.name {
            leaveOut(child, why, "it is below \(entity.name), which is left out")
        }
        let key = entity[entity.key.value]?.kind == .simple("integer") ? "integer" : "string"
        for index in entities.indices {
            for place in entities[index].fields.indices {
                guard case .reference(to: entity.name, _) = entities[index].fields[place].kind else { continue }
                entities[index].fields[place].kind = .simple(key)
                entities[index].fields[place].reason = "the key of \(entity.name), which this draft leaves out"
            }
        }
    }
}
