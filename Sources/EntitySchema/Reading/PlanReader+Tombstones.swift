internal import JSONText

/// Reads `pull.deleted`: a mark in the records, or a list of its own.
extension PlanReader {
    /// `deleted_at`, `attributes.deleted_at`, `{ status: cancelled }` or `{ status: [cancelled, void] }`.
    func deletionMark() throws(SchemaError) -> PullPlan.DeletionMark? {
        guard let node = entity.child("pull")?.child("deleted"), !isList(node) else { return nil }
        guard node.isMapping else { return try markPlace(node) }
        let members = try node.members()
        guard members.count == 1, let (name, values) = members.first else {
            throw node.error(
                "expected one field and its value, such as { status: cancelled }, or a list of deletions with a path")
        }
        return PullPlan.DeletionMark(
            name: name, values: try values.texts())
    }

    /// A member, with quotes or without, or a place inside one.
    private func markPlace(_ node: SchemaNode) throws(SchemaError) -> PullPlan.DeletionMark {
        let path = try node.string()
        _ = try node.place()
        guard !JSONPath.isThroughList(path) else {
            throw node.error("\(path) goes through a list; name one value that says whether the record was deleted")
        }
        let steps = JSONPath.steps(path)
        guard let name = steps.first, steps.count == 1 else {
            return PullPlan.DeletionMark(name: path, place: path)
        }
        return PullPlan.DeletionMark(name: String(name))
    }

    /// Whether it is a list of deletions, or was meant to be one.
    private func isList(_ node: SchemaNode) -> Bool {
        node.isMapping && Self.listKeys.contains { node.child($0) != nil }
    }

    private static let listKeys = ListCallReader.keys + ["since", "key", "at"] + ListReader.keys

    func tombstones() throws(SchemaError) -> TombstoneList? {
        guard let pull = entity.child("pull"), let node = pull.child("deleted"), isList(node) else { return nil }
        try node.requireKeys(Self.listKeys + ["where"])
        let since = node.child("since").map { SinceReader(node: $0) }
        if let partial = node.child("since")?.child("partial") {
            throw partial.error("partial says that records come with their changed members alone; remove it here")
        }
        var list = try ListReader(node: node, base: self.list).list()
        let key: Place?
        (key, list.lift) = try deletedKey(node.child("key"))
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
        list.lone = LoneRecord(
            key: key ?? list.lift?.place(of: self.key) ?? Place(paths: [self.key]), members: at.map { [$0] } ?? [])
        let plan = PullPlan(
            path: request.path, query: request.query, call: request.call, list: list, mode: mode, changedAt: nil,
            deleted: nil, single: PullPlan.Single(isServed: false, path: Template(parts: []), place: .itself))
        return TombstoneList(
            plan: plan, key: key ?? Place(paths: [self.key]), at: at,
            marks: try node.child("where")?.memberTests() ?? [])
    }

    /// Where an entry has the key: at the place of the key in a record, unless the list says otherwise. Without a place it is
    /// lifted.
    private func deletedKey(_ given: SchemaNode?) throws(SchemaError) -> (place: Place?, lift: Lift?) {
        guard let given else { return (nil, lift) }
        guard given.isMapping else { return (try given.place(), nil) }
        return (nil, Lift([Lift.Member(name: key, source: try given.linkSource(of: key))]))
    }
}
