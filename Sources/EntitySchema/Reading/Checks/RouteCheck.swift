/// Checks that every route of `push` can be taken, and that a request says which record it concerns.
struct RouteCheck {
    let entity: Entity
    /// Makes the error for a place in the entity.
    let error: (_ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        for operation in Operation.allCases {
            let routes = entity.routes(for: operation)
            for (index, route) in routes.enumerated() {
                let place = "push.\(operation).\(index)"
                try checkConditions(of: route, at: "\(place).when")
                for name in route.body?.repeated ?? [] where entity[field: name].map({ $0.kind != .list }) ?? false {
                    throw error(
                        "\(place).body", "\(name) after $each is no list; only a field of type list has elements")
                }
                if let earlier = routes[..<index].first(where: { $0.takesAll(of: route, operation) }) {
                    throw error(
                        place,
                        "this route is never taken, because \(earlier.call) comes first and takes all of its changes; write "
                            + "the route with more conditions or fewer fields first, or remove one")
                }
                if operation != .create { try checkKey(in: route, at: place, sendsRecord: route.sendsRecord) }
                if operation == .update, route.sendable?.isEmpty == true {
                    throw error(
                        place,
                        "no change takes this route, because it sends no field; list the fields that it changes in fields"
                    )
                }
                try checkLookUp(of: route, at: "\(place).look_up")
            }
        }
        for (place, route) in [("upload", entity.content?.upload), ("delete", entity.content?.delete)] {
            if let route { try checkKey(in: route, at: "content.\(place)", sendsRecord: false) }
        }
        try checkSingleRecord()
    }

    private func checkConditions(of route: PushRoute, at place: String) throws(SchemaError) {
        for (name, value) in route.conditions.sorted(by: { $0.key < $1.key }) {
            guard let field = entity[field: name] else { continue }
            let known = field.enumValues ?? (field.kind == .boolean ? ["true", "false"] : nil)
            guard let known, !known.contains(value) else { continue }
            throw error(
                "\(place).\(name)",
                "\(value) is not a value of \(name)\(Suggestion.hint(for: value, among: known)); expected one of "
                    + known.joined(separator: ", "))
        }
    }

    /// Only where the upstream shows many records: one that has a single one may need no key.
    private var hasMany: Bool { entity.pull.map { $0.list.style != .single } ?? false }

    private func checkKey(in route: PushRoute, at place: String, sendsRecord: Bool) throws(SchemaError) {
        let body = (route.envelope?.names ?? []) + (route.body?.fields ?? []) + (route.fields ?? [])
        guard hasMany, route.path.placeholders.isEmpty, !sendsRecord, route.envelope?.names.isEmpty ?? true,
            !body.contains(entity.key)
        else { return }
        throw error(
            place,
            "\(route.call) does not say which record it changes; write its key into call, such as "
                + "\(route.method) \(route.path.source)/{\(entity.key)}, or into body")
    }

    private func checkSingleRecord() throws(SchemaError) {
        guard hasMany, let single = entity.pull?.single, single.isServed, single.path.placeholders.isEmpty,
            single.body?.names.isEmpty ?? true
        else { return }
        throw error(
            "pull.record",
            "\(single.path.source) does not say which record is read; write its key into the path, such as "
                + "\(single.path.source)/{\(entity.key)}, or into body")
    }

    private func checkLookUp(of route: PushRoute, at place: String) throws(SchemaError) {
        guard case .match(let names, _, _) = route.lookUp else { return }
        guard !names.isEmpty else {
            throw error("\(place).match", "expected at least one field, whose value rarely repeats")
        }
        let known = route.path.fields + route.conditions.keys + [entity.key]
        for (key, names) in [("match", names), ("among", route.shownAmong.keys.sorted())] {
            guard let stray = names.first(where: { !known.contains($0) && !route.canSend($0) }) else { continue }
            throw error(
                "\(place).\(key)",
                "this route does not send \(stray), so the new record cannot be found by it; "
                    + "add it to fields, or remove it here")
        }
        guard let twice = names.first(where: { route.shownAmong[$0] != nil }) else { return }
        throw error("\(place).among", "\(twice) is in match already; name it in one of them")
    }
}

extension PushRoute {
    /// Whether it is taken for every change that another route could take, if it comes first.
    fileprivate func takesAll(of other: PushRoute, _ operation: Operation) -> Bool {
        guard conditions.allSatisfy({ other.conditions[$0.key] == $0.value }) else { return false }
        guard operation == .update, let sendable else { return true }
        return other.sendable?.allSatisfy(sendable.contains) ?? false
    }
}
