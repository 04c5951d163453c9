internal import EntitySchema
internal import JSONText

/// Computes the read-only fields that depend on the record's other fields and its state in the queue, as far as the
/// document has them: a field that is computed on reading is in none, unless the server sends it.
struct ComputedFields {
    /// The state of a record's creation in the queue.
    enum Creation {
        case queued, failed
    }

    let entity: Entity
    /// Those of the derived fields that need no other record.
    private let fields: [Field]
    /// The members that decide each of them; nil if others may as well.
    private let deciding: [[String]?]

    init(entity: Entity) {
        self.entity = entity
        fields = entity.derivedFields.filter { $0.isComputedOnReading || $0.follow != nil }
        deciding = fields.map { Self.deciding($0, entity) }
    }

    /// A field that has a source may get its value from a member of another name.
    private static func deciding(_ field: Field, _ entity: Entity) -> [String]? {
        guard field.isComputedOnReading, let names = field.derivation?.ownFields else { return nil }
        return names.allSatisfy { entity[field: $0]?.source == nil } ? names : nil
    }

    /// The members that differ from the server's. `edited` is the server's version with local changes applied; `shown`
    /// is what readers saw before of the fields that follow the queue. `local` has every member in which `edited` differs
    /// from the server's version; nil if that is not known.
    func overlay(
        edited: JSONText, local: JSONText? = nil, remote: JSONText?, creation: Creation?, shown: [JSONText]
    ) -> [(key: String, value: JSONText)] {
        fields.indices.compactMap { index in
            // Most edits decide none of these fields, and looking for the server's value takes a walk over the record.
            if let local, let names = deciding[index], !names.contains(where: { local[$0] != nil }) { return nil }
            let field = fields[index]
            let server = entity.serverValue(of: field, in: remote)
            var value: JSONText?
            if let derivation = field.derivation, let server, let remote {
                value = own(derivation, edited: edited, remote: remote, server: server)
            } else if let follow = field.follow {
                let seen = shown.map { $0[field.name]?.string }
                value = state(follow, creation: remote == nil ? creation : nil, seen + [server?.string])
            }
            return value.flatMap { $0 == server ? nil : (key: field.name, value: $0) }
        }
    }

    /// The server's own value applies until a field that it is made of is changed locally.
    private func own(_ derivation: Derivation, edited: JSONText, remote: JSONText, server: JSONText) -> JSONText? {
        let here = derivation.own { entity.value(of: $0, in: edited) }
        return here == derivation.own { entity.value(of: $0, in: remote) } ? server : here
    }

    private func state(_ follow: QueueFollowing, creation: Creation?, _ seen: [String?]) -> JSONText {
        switch creation {
        case .queued: .string(follow.queued)
        case .failed: .string(follow.failed)
        case nil: .string(follow.furthest(seen))
        }
    }
}

extension Entity {
    /// The server's value of a field that is computed here; a null counts as missing.
    func serverValue(of field: Field, in remote: JSONText?) -> JSONText? {
        let value = remote.flatMap { field.value(in: $0) }
        return value?.kind == .null ? .none : value
    }
}
