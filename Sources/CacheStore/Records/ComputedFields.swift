internal import EntitySchema
internal import JSONText

/// What a record's own fields, and its place in the queue, say of the fields that nobody writes.
struct ComputedFields {
    /// Where a record's creation stands in the queue.
    enum Creation {
        case queued, failed
    }

    let entity: Entity

    /// The members that differ from what the server says. `laid`: the server's version with local changes laid over it.
    /// `shown`: what readers saw before, of the fields that follow the queue.
    func overlay(laid: JSONText, remote: JSONText?, creation: Creation?, shown: [JSONText]) -> [(
        key: String, value: JSONText
    )] {
        entity.derivedFields.compactMap { field in
            let server = entity.serverValue(of: field, in: remote)
            var value: JSONText?
            if case .text(let template) = field.derivation {
                value = text(template, laid: laid, remote: remote, server: server)
            } else if let follow = field.follow {
                let seen = shown.map { $0[field.name]?.string }
                value = state(follow, creation: remote == nil ? creation : nil, seen + [server?.string])
            }
            return value.flatMap { $0 == server ? nil : (key: field.name, value: $0) }
        }
    }

    /// The server's own text stands until something that it is made of is changed here.
    private func text(
        _ template: Template, laid: JSONText, remote: JSONText?, server: JSONText?
    ) -> JSONText? {
        let here = joined(template, laid)
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

    /// The template with nothing in the place of what is missing, and no more than one space in a row; null for nothing.
    private func joined(_ template: Template, _ record: JSONText) -> JSONText {
        let text = template.parts.map { part in
            switch part {
            case .text(let text): text
            case .hole(let name): entity.value(of: name, in: record)?.plain ?? ""
            }
        }.joined()
        let words = text.split(separator: " ")
        return words.isEmpty ? .null : .string(words.joined(separator: " "))
    }
}

extension Entity {
    /// What the server says of a field that is worked out here; null is nothing.
    func serverValue(of field: Field, in remote: JSONText?) -> JSONText? {
        guard let remote, let value = value(of: field.name, in: remote), value.kind != .null else { return .none }
        return value
    }
}
