internal import EntitySchema
internal import JSONText

/// Computes the read-only fields that depend on the record's other fields and its state in the queue.
struct ComputedFields {
    /// The state of a record's creation in the queue.
    enum Creation {
        case queued, failed
    }

    let entity: Entity
    /// Those of the derived fields that need no other record.
    private let fields: [Field]

    init(entity: Entity) {
        self.entity = entity
        fields = entity.derivedFields.filter { field in
            guard case .text = field.derivation else { return field.follow != nil }
            return true
        }
    }

    /// The members that differ from the server's. `edited` is the server's version with local changes applied; `shown`
    /// is what readers saw before of the fields that follow the queue.
    func overlay(edited: JSONText, remote: JSONText?, creation: Creation?, shown: [JSONText]) -> [(
        key: String, value: JSONText
    )] {
        fields.compactMap { field in
            let server = entity.serverValue(of: field, in: remote)
            var value: JSONText?
            if case .text(let template) = field.derivation {
                value = text(template, edited: edited, remote: remote, server: server)
            } else if let follow = field.follow {
                let seen = shown.map { $0[field.name]?.string }
                value = state(follow, creation: remote == nil ? creation : nil, seen + [server?.string])
            }
            return value.flatMap { $0 == server ? nil : (key: field.name, value: $0) }
        }
    }

    /// The server's own text applies until a field that it is built from is changed locally.
    private func text(
        _ template: Template, edited: JSONText, remote: JSONText?, server: JSONText?
    ) -> JSONText? {
        let here = joined(template, edited)
        if let server, let remote, here == joined(template, remote) { return server }
        return here
    }

    private func state(_ follow: QueueFollowing, creation: Creation?, _ seen: [String?]) -> JSONText {
        switch creation {
        case .queued: .string(follow.queued)
        case .failed: .string(follow.failed)
        case nil: .string(follow.furthest(seen))
        }
    }

    /// The filled template, with nothing for a missing value and no more than one space in a row; null if empty.
    private func joined(_ template: Template, _ record: JSONText) -> JSONText {
        let text = template.parts.map { part in
            switch part {
            case .text(let text): text
            case .placeholder(let name): entity.value(of: name, in: record)?.plain ?? ""
            }
        }.joined()
        let words = text.split(separator: " ")
        return words.isEmpty ? .null : .string(words.joined(separator: " "))
    }
}

extension Entity {
    /// The server's value of a field that is computed here; a null counts as missing.
    func serverValue(of field: Field, in remote: JSONText?) -> JSONText? {
        guard let remote, let value = value(of: field.name, in: remote), value.kind != .null else { return .none }
        return value
    }
}
