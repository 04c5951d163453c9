/// Reads `pull.where` and `pull.keep` of every entity, once all fields are known.
struct WindowReader {
    let root: SchemaNode
    let entities: [Entity]
    let hasAccount: Bool

    /// The entities with their windows.
    func read() throws(SchemaError) -> [Entity] {
        var result = entities
        for (index, entity) in entities.enumerated() where entity.pull != nil {
            let node = ["entities", entity.name, "pull"].reduce(root) { $0.child($1) ?? $0 }
            result[index].pull?.window = try window(node, of: entity)
            if let plan = result[index].pull, plan.readsUntil { try checkUntil(of: plan, node) }
            if let changes = node.child("changes"), result[index].pull?.window?.opensWithTime == true {
                throw changes.error(
                    "where takes in more records as time passes, so each pull asks for everything; remove changes, or that "
                        + "bound of where")
            }
        }
        return result
    }

    private func window(_ node: SchemaNode, of entity: Entity) throws(SchemaError) -> Window? {
        guard let test = node.child("where") else {
            guard let keep = node.child("keep") else { return nil }
            throw keep.error("keep is only allowed with where; add where or remove keep")
        }
        if let partial = node.child("since")?.child("partial"), try partial.boolean() {
            throw test.error(
                "records that come with their changed members alone may lack what where tests; remove where")
        }
        let names = TemplateNames(values: ["account"], hasNow: true)
        let window = Window(
            test: withNumbers(try RecordTestReader(entity: entity, templates: names).test(test), of: entity),
            keepsReferenced: try keepsReferenced(node.child("keep")))
        for name in window.fields where entity[field: name]?.isDerivedHere == true {
            throw test.error(
                "\(name) is computed here, so it says nothing about the upstream's records; name another field")
        }
        if window.usesAccount, !hasAccount {
            throw test.error("{$account} needs upstream.account, which says whose records these are; add it")
        }
        return window
    }

    /// `{$until}` must have a bound to stand for, and pulls that do not read the whole list anyway.
    private func checkUntil(of plan: PullPlan, _ pull: SchemaNode) throws(SchemaError) {
        guard let window = plan.window, let node = pull.child("where") else { return }
        let bounds = window.test.alternatives.joined().filter(\.isLowerBound)
        guard window.test.alternatives.count == 1, bounds.count == 1 else {
            throw node.error(
                "{$until} stands for the lower bound before a change of where, so where needs exactly one, such as "
                    + "created_at.gte, and no alternatives")
        }
        let isWhole = plan.deltaToken != nil || plan.mode == .full || window.opensWithTime
        if isWhole { throw node.error("{$until} has no effect here: another window is always read whole; remove it") }
        let mixed = plan.call?.templates.first { template in
            template.placeholders.count > 1 && template.placeholders.contains { $0.name == .value("until") }
        }
        if mixed != nil {
            throw node.error(
                "a parameter with {$until} is only sent after a change of where, with all that it says; give {$until} a "
                    + "parameter or member of its own")
        }
    }

    /// With 1 and 0 beside true and false, as some upstreams write them.
    private func withNumbers(_ test: RecordTest, of entity: Entity) -> RecordTest {
        var test = test
        test.alternatives = test.alternatives.map { conditions in
            conditions.map { condition in
                guard entity[field: condition.field]?.kind == .boolean else { return condition }
                var condition = condition
                if condition.values.contains("true") { condition.values.append("1") }
                if condition.values.contains("false") { condition.values.append("0") }
                return condition
            }
        }
        return test
    }

    private func keepsReferenced(_ node: SchemaNode?) throws(SchemaError) -> Bool {
        guard let node else { return true }
        let words = ["referenced", "window"]
        let word = try node.string()
        guard words.contains(word) else {
            let hint = Suggestion.hint(for: word, among: words)
            throw node.error("keep is \(word); expected referenced or window\(hint)")
        }
        return word == "referenced"
    }
}

extension EntitySchema {
    /// Indexes the fields that windows test, and the references that keep records outside of a window.
    var withWindowIndexes: EntitySchema {
        var schema = self
        for (index, entity) in entities.enumerated() {
            for (place, field) in entity.fields.enumerated() {
                let isTested = entity.pull?.window?.fields.contains(field.name) ?? false
                if isTested || refersToWindow(field) { schema.entities[index].fields[place].indexed = true }
            }
        }
        return schema
    }

    private func refersToWindow(_ field: Field) -> Bool {
        guard case .reference(let other) = field.kind else { return false }
        return self[other]?.pull?.window?.keepsReferenced ?? false
    }
}
