package import JSONText

/// Recognises a record in the place of its list: servers that translate XML leave out the list around a single one.
///
/// An error stands there as well, and may have an id. So the key alone does not make an object a record.
package struct LoneRecord: Sendable, Equatable {
    /// Where a record has its key.
    package var key: Place
    /// What the schema says that records have besides.
    package var members: [Place]

    package init(key: Place, members: [Place]) {
        self.key = key
        self.members = members
    }

    /// The fields that the upstream has. `link`, where a child has its parent's key, may be left out of a record.
    init(key: String, lift: Lift?, fields: [Field], link: String? = nil) {
        self.key = lift?.place(of: key) ?? Place(paths: [key])
        members = fields.filter { $0.name != key && $0.name != link && !$0.isDerivedHere }.map { field in
            lift?.place(of: field.name) ?? Place(paths: [field.name] + (field.source.map { [$0] } ?? []))
        }
    }

    /// Whether an object is such a record: it has the key and most of the other members, null or not, or at least three of
    /// them and nothing else. `isOnly` says that the answer counts one record, so that the key is enough.
    package func matches(_ object: JSONText, isOnly: Bool) -> Bool {
        guard object.kind == .object, let value = key.value(in: object), Entity.key(value) != nil else { return false }
        guard !isOnly, !members.isEmpty else { return true }
        let shown = members.count { member in member.paths.contains { object.at(path: $0) != nil } }
        return shown * 2 > members.count || shown >= 3 && hasOnlyKnownMembers(object)
    }

    private func hasOnlyKnownMembers(_ object: JSONText) -> Bool {
        let known = Set(([key] + members).flatMap(\.paths).map { $0.prefix { $0 != "." } })
        return object.members.allSatisfy { known.contains($0.key[...]) }
    }
}
