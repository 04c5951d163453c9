/// Reads `pull.detail`: which other records come with each record, and what is requested for it besides the list.
struct DetailReader {
    let node: SchemaNode
    /// The entity's own list, whose paging the details inherit.
    let base: ListPlan

    struct Result {
        var details: [PullPlan.Detail]
        var fetch: PullPlan.Fetch?
    }

    /// One detail, or a list of them with paths of their own.
    func read() throws(SchemaError) -> Result {
        guard node.isSequence else { return try one() }
        var result = Result(details: [], fetch: nil)
        for element in try node.elements() {
            guard element.child("path") != nil else {
                throw element.error("expected path: each detail in a list is a list of its own, below the record")
            }
            let read = try DetailReader(node: element, base: base).one()
            if let fetch = result.fetch, let trigger = element.child("when_changed"), read.fetch != fetch {
                throw trigger.error("all details of an entity are requested together; expected the same when_changed")
            }
            result.fetch = read.fetch
            for detail in read.details {
                if result.details.contains(where: { $0.entity == detail.entity }) {
                    throw element.error("\(detail.entity) comes with another detail already; remove one of them")
                }
                result.details.append(detail)
            }
        }
        guard !result.details.isEmpty else { throw node.error("expected at least one detail") }
        return result
    }

    private func one() throws(SchemaError) -> Result {
        try node.requireKeys(["read", "path", "into", "when_changed", "embedded"] + ListReader.keys)
        let isSingle = try readsSingle()
        let fetch = try fetch(isSingle: isSingle)
        guard let into = node.child("into") else {
            guard isSingle else { throw node.error("expected into: the entity that the records belong to") }
            return Result(details: [], fetch: fetch)
        }
        guard into.isMapping else { return Result(details: [try one(into, isSingle: isSingle)], fetch: fetch) }
        for key in ["path", "embedded"] + ListReader.keys {
            if let other = node.child(key) {
                throw other.error("into names the place of each entity's records, so \(key) has no meaning; remove it")
            }
        }
        var details: [PullPlan.Detail] = []
        for (name, place) in try into.members() {
            details.append(
                PullPlan.Detail(isInSingle: isSingle, entity: name, list: try embedded(at: place)))
        }
        return Result(details: details, fetch: fetch)
    }

    private func readsSingle() throws(SchemaError) -> Bool {
        guard let read = node.child("read") else { return false }
        guard try read.string() == "single" else {
            throw read.error("expected single: the record at pull.record is read for each record that changed")
        }
        if let path = node.child("path") {
            throw path.error("read: single reads the record at pull.record; remove path")
        }
        return true
    }

    private func fetch(isSingle: Bool) throws(SchemaError) -> PullPlan.Fetch? {
        let isRequested = isSingle || node.child("path") != nil
        guard let trigger = node.child("when_changed") else {
            guard isRequested else { return nil }
            throw node.error("expected when_changed: the field whose change means another request, or any")
        }
        guard isRequested else {
            throw trigger.error("when_changed decides which records to request; add path or read: single, or remove it")
        }
        let name = try trigger.string()
        return PullPlan.Fetch(trigger: name == "any" ? .any : .field(name), isSingle: isSingle)
    }

    private func one(_ into: SchemaNode, isSingle: Bool) throws(SchemaError) -> PullPlan.Detail {
        let path = try node.child("path")?.urlTemplate()
        var plan = try ListReader(node: node, base: base).list()
        if let place = node.child("embedded") {
            plan = try embedded(at: place, in: plan)
        } else if path == nil {
            throw node.error("expected path, or embedded for records inside this entity's own")
        }
        return PullPlan.Detail(path: path, isInSingle: isSingle, entity: try into.string(), list: plan)
    }

    private func embedded(at place: SchemaNode, in plan: ListPlan? = nil) throws(SchemaError) -> ListPlan {
        var plan = plan ?? base
        plan.style = .single
        plan.records = try place.place()
        return plan
    }
}
