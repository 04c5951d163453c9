import EntitySchema
import JSONText
import ReferenceUpstream
import SyncEngine
import TestSupport

@testable import CacheStore

/// What people do with the queue and with conflicts.
extension SystemWorld {
    /// Sets the marked field of a queued change to another value.
    func correct() {
        guard let store, let engine, let change = pickChange(), change.operation != .delete,
            let entity = running[change.entity], let field = marked(entity, for: change.operation)
        else { return }
        let number = newNumber()
        let body = JSONText.object(members: [(field, .string(Marks.text(number)))])
        Task { [log, clock, answered] in
            do {
                try await store.correct(change.id, setting: body, at: clock.timeOfDay)
                var write = Write(
                    entity: change.entity, key: change.key, number: number, operation: .update, fields: [field])
                write.isCovered = try CacheReader(store: store).setsLater(field, than: change)
                answered.add(write)
                log.add("w\(number) corrects change \(change.id) of \(change.entity)/\(change.key)")
                engine.noteLocalWrite()
            } catch {
                log.add("change \(change.id) is not corrected: \(error)")
            }
        }
    }

    func discard() {
        guard let store, let change = pickChange() else { return }
        act("change \(change.id) of \(change.entity)/\(change.key) is discarded") { [clock] in
            try await store.discard(change.id, cascade: true, at: clock.timeOfDay)
        }
        // What was created may be gone, and what was deleted may be back.
        noteDeletion(of: change.entity)
    }

    /// Retries what has failed. A creation of which the daemon cannot say whether it arrived is only retried after
    /// checking that it did not, as its error asks for.
    func retry() {
        guard let store, let failed = try? CacheReader(store: store).changes().filter({ $0.state == "failed" }) else {
            return
        }
        let open = failed.filter { !hasArrived($0) }
        act("failed changes are retried") { [clock] in
            guard open.count < failed.count else { return _ = try await store.retry(nil, at: clock.timeOfDay) }
            for change in open { _ = try await store.retry(change.id, at: clock.timeOfDay) }
        }
    }

    /// Whether the upstream has the record of a creation whose outcome is unclear.
    private func hasArrived(_ change: CacheReader.Change) -> Bool {
        guard change.operation == .create, change.error?.hasPrefix("unclear") == true,
            let entity = running[change.entity],
            let field = marked(entity, for: .create).flatMap({ entity[field: $0] }),
            let number = Marks.number(of: change.body[field.name], field)
        else { return false }
        return reference.records(of: name(of: entity.name)).contains {
            Marks.number(of: entity.value(of: field.name, in: $0), field) == number
        }
    }

    func resolve() {
        guard let store, let conflict = pickConflict(store, open: true), let id = conflict["id"]?.integer else {
            return
        }
        let winner: Conflict.Side = executor.random { $0.chance(0.5) } ? .local : .server
        act("conflict \(id) is resolved for \(winner)") { [clock] in
            try await store.resolve(Int64(id), for: winner, at: clock.timeOfDay)
        }
    }

    func undo() {
        guard let store, let conflict = pickConflict(store, open: false), let id = conflict["id"]?.integer else {
            return
        }
        act("conflict \(id) is undone") { [clock] in try await store.undo(Int64(id), at: clock.timeOfDay) }
    }

    /// Whatever people decide explains values that go back.
    private func act(_ what: String, _ body: @escaping @Sendable () async throws -> Void) {
        guard let engine else { return }
        answered.noteAct()
        Task { [log, answered] in
            do {
                try await body()
                answered.noteAct()
                log.add(what)
                engine.noteLocalWrite()
            } catch {
                log.add("not so, that \(what): \(error)")
            }
        }
    }

    private func pickChange() -> CacheReader.Change? {
        guard let store, let changes = try? CacheReader(store: store).changes(), !changes.isEmpty else { return nil }
        return changes[executor.random { $0.below(changes.count) }]
    }

    private func pickConflict(_ store: CacheStore, open: Bool) -> JSONText? {
        let all = (try? store.conflicts(before: nil, open: open, limit: 50).conflicts) ?? []
        let found = all.filter { open || $0["winner"] != .null }
        return found.isEmpty ? nil : found[executor.random { $0.below(found.count) }]
    }
}
