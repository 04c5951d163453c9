internal import EntitySchema
internal import JSONText

/// Bodies that a caller has read, edited and sent back.
extension ChangeWriter {
    /// Nil if the body has none of the members that answers add.
    static func withoutAdded(_ body: JSONText) -> JSONText? {
        let members = body.members
        let own = members.filter { !AddedMembers.names.contains($0.key) }
        return own.count < members.count ? .object(members: own) : .none
    }

    /// What `given` changes in a record that has one of the keys `names`: without the members that answers add, its key,
    /// and what it has already, be it a field that cannot be written or a value that the schema does not know.
    ///
    /// `keepsUnshown`: fields that the upstream never shows stay, also with the value sent last.
    func changes(
        in given: JSONText, to document: JSONText, named names: [String], keepsUnshown: Bool = false
    ) -> JSONText {
        let members = given.members
        // Of two values for one field, neither may be dropped silently.
        guard Set(members.map(\.key)).count == members.count else { return given }
        let read = sealer.shown(document)
        return .object(
            members: members.filter { name, value in
                if AddedMembers.names.contains(name) { return false }
                if keepsUnshown, entity[field: name]?.isWriteOnly == true { return true }
                if name == entity.key, names.contains(where: { $0.exact == value.plain.exact }) { return false }
                let old = entity.value(of: name, in: read) ?? (entity[field: name] == nil ? .none : .null)
                return old?.isEquivalent(to: value) != true
            })
    }

    /// What `given` changes, with its objects merged into those of the record (RFC 7396), which has one of the keys `names`. A
    /// null at the top is kept: it sets the field to null.
    ///
    /// Throws `.conflict` if an object has a secret that cannot be decrypted, because it would be lost.
    func merged(_ given: JSONText, into document: JSONText, named names: [String]) throws -> JSONText {
        let patch = changes(in: given, to: document, named: names, keepsUnshown: Self.withoutAdded(given) == nil)
        let members = patch.members
        guard members.contains(where: { $0.value.kind == .object }) else { return patch }
        let old = members.compactMap { name, value in
            value.kind == .object ? entity.value(of: name, in: document).map { (key: name, value: $0) } : nil
        }
        let opened = try sealer.opened(.object(members: old))
        return .object(
            members: members.map { name, value in
                guard value.kind == .object else { return (key: name, value: value) }
                return (key: name, value: (opened[name] ?? .null).merged(with: value))
            })
    }
}
