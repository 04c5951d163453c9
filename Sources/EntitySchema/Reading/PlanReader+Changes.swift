/// Reads `pull.changes`: the list that pulls of changes ask for, if the upstream has one beside the list of everything.
extension PlanReader {
    /// `base`: how the list of everything is paged, and where it has its records.
    func changes(of pull: SchemaNode, _ base: ListPlan) throws(SchemaError) -> ChangesList? {
        guard let node = pull.child("changes") else { return nil }
        guard node.isMapping else { throw node.error("expected a list of its own, such as { path: /orders/changed }") }
        try node.requireKeys(ListCallReader.keys + ListReader.keys)
        let list = try ListReader(node: node, base: base).list()
        var names = names(of: list, pull.child("since"))
        names.needs["until"] = "it asks for a part of everything; write it in pull.query or pull.body"
        let request = try ListCallReader(node: node, names: names).read()
        return ChangesList(path: request.path, query: request.query, call: request.call, list: list)
    }

    /// What the list of everything may name beside one of changes: it is never asked for what changed.
    func withoutChanges(_ names: TemplateNames) -> TemplateNames {
        var names = names
        for name in ["since", "delta"] {
            names.values.remove(name)
            names.needs[name] = "the list of everything is not asked for changes; write it in pull.changes"
        }
        return names
    }

    /// Refuses what has no effect beside a list of changes, and one that is never asked for.
    func checkChanges(of plan: PullPlan, _ pull: SchemaNode) throws(SchemaError) {
        guard let node = pull.child("changes") else { return }
        if plan.mode == .full {
            throw node.error(
                "with mode: full, each pull asks for everything; add since, or mode: newest_first, or remove changes")
        }
        if plan.deltaToken?.form == .link {
            throw node.error("since.link has the whole address of what changed; remove changes")
        }
        if let from = pull.child("since")?.child("from") {
            throw from.error("from has no effect beside changes: the list of everything gets no time; remove from")
        }
        let same = plan.ofChanges
        if (same.path, same.query, same.call, same.list) == (plan.path, plan.query, plan.call, plan.list) {
            throw node.error("changes asks for the same list as pull itself does; remove changes")
        }
    }
}
