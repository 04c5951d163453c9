package import JSONText

/// Which fields the schema's routes can send.
extension Entity {
    /// The fields that callers may write with the operation, in the schema's order: all that a route can send, whatever
    /// its conditions.
    package func writable(by operation: Operation) -> [Field] {
        let writable = fields.filter { !$0.isDerivedHere && (operation == .create || $0.name != key) }
        if isLocal { return writable }
        var names: Set<String> = []
        for route in routes(for: operation) {
            guard let fields = route.sendable else { return writable }
            names.formUnion(fields)
            // A new record also has its key, and the fields of its path.
            if operation == .create {
                names.formUnion(route.path.placeholders.map(ownField) + route.conditions.keys + [key])
            }
        }
        return writable.filter { names.contains($0.name) }
    }

    /// Whether no edit sets the field: no update sends it, or it is what updates are based on, beside their fields.
    package func isSetByServer(_ field: String) -> Bool {
        push.update.allSatisfy { route in
            !route.canSend(field) || route.envelope.map { $0.hasFields && $0.names.contains(field) } ?? false
        }
    }

    /// The fields that the routes of the operation can send of `record`; nil for any that is not computed here.
    package func sendable(for operation: Operation, record: JSONText) -> [String]? {
        if isLocal { return nil }
        if operation == .update {
            var all: [String] = []
            for index in push.update.indices where push.update[index].isMet(by: record, of: self) {
                guard let fields = push.update[index].sendable else { return nil }
                all = all.isEmpty ? fields : all + fields.filter { !all.contains($0) }
            }
            return all
        }
        guard let route = route(for: operation, record: record), let fields = route.sendable else { return nil }
        // A new record also has its key and the fields that its path is made of.
        let named = route.path.placeholders.map(ownField).filter { self[field: $0] != nil }
        return fields + named + route.conditions.keys + [key]
    }

    /// Whether the updates of all records are sent alike: no value of a record says which request one takes, where it goes, or
    /// which other change it waits for.
    package var sendsUpdatesAlike: Bool {
        !push.update.isEmpty && orderWithin == nil && farNames.isEmpty
            && push.update.allSatisfy { $0.conditions.isEmpty && $0.path.fields.allSatisfy { $0 == key } }
    }

    /// The fields without which the operation's path cannot be filled; the key of a new record is made before it is
    /// sent.
    package func missingPathFields(for operation: Operation, record: JSONText) -> [String] {
        guard let place = place(ofRouteFor: operation, record: record) else { return [] }
        return routes(for: operation)[place].path.fields.filter {
            $0 != key && (value(of: $0, in: record)?.plain ?? "").isEmpty
        }
    }

    /// The field whose value the operation's path cannot have, because it would lead elsewhere.
    package func strayPathField(for operation: Operation, record: JSONText) -> String? {
        guard let place = place(ofRouteFor: operation, record: record) else { return nil }
        return routes(for: operation)[place].path.fields.first { name in
            let hasValue = value(of: name, in: record).map { !$0.plain.isEmpty } ?? false
            return hasValue && path(Template(parts: [.placeholder(name)]), of: record) == nil
        }
    }

    /// The changed fields of `record`, one part for each request: a single part if one route can send all of them.
    ///
    /// A part with a field that has steps comes after the others, because the upstream may refuse a step, and the parts after
    /// a refused one are not sent. `unsendable` is a field that no route can send.
    package func parts(
        of changed: [(key: String, value: JSONText)], record: JSONText
    ) -> (parts: [[(key: String, value: JSONText)]], unsendable: String?) {
        if hasRoute(for: .update, record: record, fields: changed.map(\.key)) { return ([changed], nil) }
        var parts: [[(key: String, value: JSONText)]] = []
        var rest = changed
        while let first = rest.first {
            guard let route = route(for: .update, record: record, fields: [first.key]) else {
                return (parts, first.key)
            }
            parts.append(rest.filter { canSend($0.key, on: route) })
            rest.removeAll { canSend($0.key, on: route) }
        }
        return (parts.filter { !hasSteps($0) } + parts.filter(hasSteps), nil)
    }

    private func hasSteps(_ part: [(key: String, value: JSONText)]) -> Bool {
        part.contains { self[field: $0.key]?.hasSteps == true }
    }
}
