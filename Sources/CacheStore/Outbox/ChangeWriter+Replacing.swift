internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Writing a whole record under a key that the caller gives.
extension ChangeWriter {
    /// Makes the record what `given` says, or creates it; returns whether it was created.
    ///
    /// A field that is left out gets its default, or null if a route can send it. One that cannot be written, or that
    /// readers do not see, stays as it is; so a member with the value that it has already is no change. With
    /// `mustExist`, nothing is created.
    func replace(
        _ key: String, body given: JSONText, expecting expected: ExpectedVersion, mustExist: Bool
    ) throws -> Bool {
        let given = Self.withoutAdded(given) ?? given
        let current = try KeyAlias.current(of: key, entity.name, in: context.records)
        if let named = given[entity.key], ![current.exact, key.exact].contains(named.plain.exact) {
            throw CacheError.invalid([
                FieldProblem(field: entity.key, message: "the path says \(key); leave this field out, or say the same")
            ])
        }
        guard let image = try writer.image(of: current), !image.isDeleted, let document = image.shown else {
            if mustExist || expected != .any {
                throw CacheError.changed(
                    "\(entity.name)/\(key) is not in the cache, so it has none of the expected versions")
            }
            _ = try create(given.setting(entity.key, to: given[entity.key] ?? .string(key)))
            return true
        }
        let read = sealer.shown(document)
        let said = given.members.filter { name, value in
            name != entity.key && !(entity.value(of: name, in: read) ?? .null).isEquivalent(to: value)
        }
        let unsaid = leftOut(of: given, in: document)
        try update(key, body: .object(members: said + unsaid), expecting: expected)
        return false
    }

    /// What the fields become that `given` does not name.
    private func leftOut(of given: JSONText, in document: JSONText) -> [(key: String, value: JSONText)] {
        let sendable = entity.sendable(for: .update, record: document)
        return entity.fields.compactMap { field in
            guard field.value(in: given) == nil, field.name != entity.key, !field.isDerivedHere, !field.secret,
                !field.isTouched, !field.required, sendable?.contains(field.name) ?? true,
                // What the record does not have, its reader cannot send back.
                let value = entity.value(of: field.name, in: document)
            else { return nil }
            switch field.initial?.value {
            case .value(let initial): return initial.isEquivalent(to: value) ? nil : (field.name, initial)
            case .now, .text: return nil
            case nil: return value.kind == .null ? nil : (field.name, .null)
            }
        }
    }
}
