/// Reads `pull.deleted` where it is a list of its own.
extension PlanReader {
    func tombstones() throws(SchemaError) -> TombstoneList? {
        guard let pull = entity.child("pull"), let node = pull.child("deleted"), node.isMapping else { return nil }
        try node.requireKeys(["path", "call", "query", "body", "records", "pagination", "since", "key", "at"])
        let since = node.child("since").map { SinceReader(node: $0) }
        let list = try ListReader(node: node, base: self.list).list()
        var request = try ListCallReader(node: node, names: names(of: list, node.child("since"))).read()
        let mode = try since?.mode(isInTemplate: request.call?.names(since?.name ?? "") ?? false) ?? .full
        if case .since(let parameter, _) = mode {
            request.call = request.call?.formatting("since", as: parameter.format)
        }
        let at = try node.child("at")?.place()
        if at == nil, since?.isDelta != true {
            throw node.error(
                "the key at is missing: without the time of a deletion, one that was listed before cannot be told from a "
                    + "new one; add it, or since: { token: … }")
        }
        if at != nil, pull.child("changed_at") == nil, pull.child("since")?.child("field") == nil {
            throw node.error(
                "at is compared with the change times of records, so that one that was created again stays; add "
                    + "pull.changed_at")
        }
        let plan = PullPlan(
            path: request.path, query: request.query, call: request.call, list: list, mode: mode, changedAt: nil,
            deleted: nil, single: PullPlan.Single(isServed: false, path: Template(parts: []), place: .itself))
        return TombstoneList(plan: plan, key: try node.child("key")?.place() ?? Place(paths: [key]), at: at)
    }
}
