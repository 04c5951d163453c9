package import JSONText

/// Where the upstream has a record: under the values that it last showed, until it has accepted a change of them.
extension Entity {
    /// The fields besides the key that lead to a record: those in the addresses at which it is read, changed and deleted
    /// and at which its content is. `parents`: those that name the parent in whose list it is.
    func fieldsInAddresses(and parents: [String]) -> [String] {
        let paths = locatingPaths + push.update.map(\.path)
        let names = paths.flatMap(\.fields).map(ownField) + (pull?.single.body?.names ?? []) + parents
        var seen: Set<String> = [key]
        return names.filter { self[field: $0] != nil && seen.insert($0).inserted }
    }

    /// The record, with the values that lead to it from `remote`, the server's last version. Where that has none, the
    /// record's own stay.
    package func located(_ record: JSONText, as remote: JSONText) -> JSONText {
        moved(record, by: addressFields.compactMap { name in value(of: name, in: remote).map { (name, $0) } })
    }

    /// The record, where it is once the server has accepted `changed`.
    package func moved(_ record: JSONText, by changed: JSONText) -> JSONText {
        moved(record, by: addressFields.compactMap { name in changed[name].map { (name, $0) } })
    }

    private func moved(_ record: JSONText, by values: [(key: String, value: JSONText)]) -> JSONText {
        values.reduce(record) { moved, change in
            guard change.value.kind != .null, change.value != value(of: change.key, in: moved) else { return moved }
            return moved.setting(change.key, to: change.value)
        }
    }

    /// Whether a version of the record says that it is at another address than `known` does.
    package func isMoved(_ record: JSONText, from known: JSONText) -> Bool {
        addressFields.contains { name in
            guard let value = value(of: name, in: record), value.kind != .null else { return false }
            return value.plain != self.value(of: name, in: known)?.plain
        }
    }

    /// The path of a change of the record, which is upstream as `address` says.
    func path(
        of route: PushRoute, for operation: Operation, _ record: JSONText, at address: JSONText?
    ) -> String? {
        guard let address, operation != .create else { return path(route.path, of: record) }
        let sent = operation == .update ? fieldsSent(inPathOf: route) : []
        return path(route.path) { name in value(of: name, in: sent.contains(ownField(name)) ? record : address) }
    }

    /// The fields whose new values an update sends in its path, and not only in its body: no address at which the record is
    /// read or deleted has them, and they stand behind the key, or the route sends nothing else.
    private func fieldsSent(inPathOf route: PushRoute) -> Set<String> {
        let names = route.path.fields.map(ownField)
        let own = [key] + (lift?.place(of: key)?.paths ?? [])
        let isAlone = route.sendable.map { !$0.isEmpty && $0.allSatisfy(names.contains) } ?? false
        let behind = names.lastIndex(where: own.contains).map { names[($0 + 1)...] } ?? []
        let locating = Set(own + locatingPaths.flatMap(\.fields).map(ownField))
        return Set(isAlone ? names[...] : behind).subtracting(locating)
    }

    /// The addresses at which a record is read and deleted, and those of its content.
    private var locatingPaths: [Template] {
        let routes = push.delete + [content?.upload, content?.delete].compactMap(\.self)
        let read = pull.flatMap { $0.single.isServed ? $0.single.path : nil }
        return routes.map(\.path) + [read, content?.path].compactMap(\.self)
    }

    /// The field of this entity that leads to a value in a path: `device_id` for `device.order_id`.
    func ownField(_ name: String) -> String { far(name)?.reference ?? name }
}
