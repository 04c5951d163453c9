import EntitySchema
import JSONText
import ReferenceUpstream
import SyncEngine
import TestSupport

@testable import CacheStore

/// What users write, here and upstream.
extension SystemWorld {
    /// Creates a record like one of the upstream's first ones, with references to local records.
    func create(_ entity: Entity) {
        // No one here uploads contents, and such a creation waits for one.
        guard !entity.isCreatedWithContent else { return }
        guard let store, let engine, let field = marked(entity, for: .create) else { return }
        let template = samples[entity.name]?.first
        let number = newNumber()
        let marks = marks(number, entity, field, .create)
        var members: [(key: String, value: JSONText)] = []
        for known in entity.fields where entity.routes(for: .create).contains(where: { sends(known.name, $0, entity) })
        {
            if known.isDerivedHere || known.name == entity.pull?.changedAt { continue }
            if let mark = marks.first(where: { $0.key == known.name }) {
                members.append(mark)
                continue
            }
            switch known.kind {
            case .reference(let other):
                guard let key = pickLocal(other) else { continue }
                members.append((known.name, reference(to: other, key)))
            default:
                guard known.name != entity.key, let template, let value = entity.value(of: known.name, in: template)
                else { continue }
                if value != .null { members.append((known.name, known.meant(value))) }
            }
        }
        let body = JSONText.object(members: members)
        perform(entity, .create, number, marks.map(\.key), engine) { [clock] in
            try await store.create(entity.name, body: body, at: clock.timeOfDay)
        }
    }

    func edit(_ entity: Entity) {
        guard let store, let engine, let field = marked(entity, for: .update), let key = pickLocal(entity.name) else {
            return
        }
        let number = newNumber()
        let marks = marks(number, entity, field, .update)
        perform(entity, .update, number, marks.map(\.key), engine) { [clock] in
            try await store.update(entity.name, key: key, body: .object(members: marks), at: clock.timeOfDay)
            return key
        }
    }

    func delete(_ entity: Entity) {
        guard let store, let engine, !entity.push.delete.isEmpty, let key = pickLocal(entity.name) else { return }
        noteDeletion(of: entity.name)
        perform(entity, .delete, newNumber(), [], engine) { [clock] in
            try await store.delete(entity.name, key: key, at: clock.timeOfDay)
            return key
        }
    }

    private func perform(
        _ entity: Entity, _ operation: Operation, _ number: Int, _ fields: [String], _ engine: SyncEngine,
        _ write: @escaping @Sendable () async throws -> String
    ) {
        Task { [log, answered] in
            do {
                let key = try await write()
                answered.add(
                    Write(entity: entity.name, key: key, number: number, operation: operation, fields: fields))
                log.add("w\(number) is acknowledged: \(operation) \(entity.name)/\(key)")
                engine.noteLocalWrite()
            } catch {
                log.add("w\(number) is refused: \(error)")
            }
        }
    }

    // MARK: Upstream writes

    func editUpstream(_ entity: Entity) {
        guard let field = marked(entity, for: .update) ?? marked(entity, for: .create), let key = pickUpstream(entity)
        else {
            return
        }
        let text = "there-\(executor.random { $0.below(1_000_000) })"
        let change = JSONText.object(members: [(field, .string(text))])
        if (try? reference.update(entity.name, key, with: change)) != nil {
            noteUpstreamEdit(of: entity, key)
            log.add("\(entity.name)/\(key) is \(text)")
        }
    }

    func deleteUpstream(_ entity: Entity) {
        guard let key = pickUpstream(entity) else { return }
        noteDeletion(of: entity.name)
        if (try? reference.delete(entity.name, key)) != nil { log.add("deleted upstream: \(entity.name)/\(key)") }
    }

    // MARK: Parts

    /// The text field that identifies a write, and with values of every type some of the other fields.
    private func marks(
        _ number: Int, _ entity: Entity, _ field: String, _ operation: Operation
    ) -> [(key: String, value: JSONText)] {
        var marks: [(key: String, value: JSONText)] = []
        for known in entity.fields {
            guard known.name != entity.key, known.name != entity.pull?.changedAt, !known.isDerivedHere,
                known.name == field || plan.writesAllTypes && executor.random({ $0.chance(0.4) }),
                entity.routes(for: operation).contains(where: { $0.canSend(known.name) }),
                let value = Marks.value(number, of: known, plain: !plan.writesAllTypes)
            else { continue }
            marks.append((known.name, value))
        }
        return marks
    }

    /// A reference as a caller writes it: of the type of the keys, as far as the key is the server's.
    private func reference(to other: String, _ key: String) -> JSONText {
        let isInteger = running[other].map { $0[field: $0.key]?.kind == .integer } ?? false
        return isInteger && key.allSatisfy(\.isNumber) ? (try? JSONText(parsing: key)) ?? .string(key) : .string(key)
    }

    /// A text field that users may change: nothing is derived from it and nothing refers to it.
    func marked(_ entity: Entity, for operation: Operation) -> String? {
        entity.fields.first { field in
            field.kind == .string && field.name != entity.key && !field.isDerivedHere && !field.isStoredSealed
                && field.source == nil && !field.name.hasSuffix("_id")
                && entity.routes(for: operation).contains { sends(field.name, $0, entity) }
        }?.name
    }

    private func sends(_ field: String, _ route: PushRoute, _ entity: Entity) -> Bool {
        route.canSend(field) || route.path.placeholders.contains(field) || field == entity.key
    }

    private func pickLocal(_ entity: String) -> String? {
        guard let store else { return nil }
        let keys = (try? CacheReader(store: store).visibleKeys(entity)) ?? []
        return keys.isEmpty ? nil : keys[executor.random { $0.below(keys.count) }]
    }

    private func pickUpstream(_ entity: Entity) -> String? {
        let keys = reference.records(of: entity.name).map { $0[entity.key]?.plain ?? "" }
        return keys.isEmpty ? nil : keys[executor.random { $0.below(keys.count) }]
    }
}
