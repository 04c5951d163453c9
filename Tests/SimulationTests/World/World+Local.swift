import EntitySchema
import JSONText
import ReferenceUpstream
import SyncEngine
import TestSupport

@testable import CacheStore

/// What users do at one daemon: each call is a task that may end much later, or never.
extension World {
    func create(_ daemon: SimulatedDaemon, _ entity: String, _ pick: Int) {
        guard let life = daemon.life else { return }
        var parent: (key: String, value: JSONText)?
        if let (field, target) = SimulationSettings.parents[entity] {
            guard let key = pickLocalKey(life, target, pick) else { return }
            parent = (field, .string(key))
        }
        let fields = SimulationSettings.markedFields[entity] ?? []
        let write = ledger.begin(
            daemon: daemon.number, entity, nil, .create, parent: parent?.value.string, fields: fields)
        let body = JSONText.object(members: self.members(of: write) + [parent].compactMap { $0 } + stage(of: entity))
        call(write, daemon, life) { time, offset in
            try await life.store.create(entity, body: body, at: time, clockOffset: offset)
        }
    }

    func edit(_ daemon: SimulatedDaemon, _ entity: String, _ pick: Int, _ fields: Int) {
        guard let life = daemon.life, let key = pickLocalKey(life, entity, pick),
            let all = SimulationSettings.markedFields[entity]
        else { return }
        // One, the other, or both.
        let fields = all.indices.filter { fields & (1 << $0) != 0 }.map { all[$0] }
        guard !fields.isEmpty else { return }
        let write = ledger.begin(
            daemon: daemon.number, entity, key, .update, parent: parent(of: key, entity, life), fields: fields)
        // Some edits take an order out of its window, or into it.
        let move = executor.random { $0.chance(0.5) } ? stage(of: entity) : []
        let body = JSONText.object(members: members(of: write) + move)
        call(write, daemon, life) { time, offset in
            try await life.store.update(entity, key: key, body: body, at: time, clockOffset: offset)
            return key
        }
    }

    func delete(_ daemon: SimulatedDaemon, _ entity: String, _ pick: Int) {
        guard let life = daemon.life, let key = pickLocalKey(life, entity, pick) else { return }
        let write = ledger.begin(daemon: daemon.number, entity, key, .delete, fields: [])
        call(write, daemon, life) { time, offset in
            try await life.store.delete(entity, key: key, at: time, clockOffset: offset)
            return key
        }
    }

    func members(of write: LocalWrite) -> [(key: String, value: JSONText)] {
        write.values.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }
    }

    private func call(
        _ write: LocalWrite, _ daemon: SimulatedDaemon, _ life: SimulatedDaemon.Life,
        _ body: @escaping @Sendable (Timestamp, Duration) async throws -> String
    ) {
        log.add(
            "d\(daemon.number) receives w\(write.number): \(write.operation) \(write.entity)/\(write.key ?? "")")
        Task { [log, ledger, server, clock = daemon.clock] in
            do {
                ledger.make(write.number, at: server.now, uncertainty: life.upstream.clockUncertainty)
                let key = try await body(clock.timeOfDay, life.engine.clockOffset() ?? .zero)
                guard life.upstream.isAlive else { return }
                ledger.answer(write.number, .made, key: key)
                log.add("w\(write.number) is acknowledged: \(write.entity)/\(key)")
                life.engine.noteLocalWrite()
            } catch {
                guard life.upstream.isAlive else { return }
                ledger.answer(write.number, .refused)
                log.add("w\(write.number) is refused: \(error)")
            }
        }
    }

    func retryFailed(_ daemon: SimulatedDaemon) {
        guard let life = daemon.life else { return }
        Task { [log, clock = daemon.clock] in
            let count = try? await life.store.retry(nil, at: clock.timeOfDay)
            life.upstream.forgiveFailures()
            log.add("failed changes to retry: \(count ?? 0)")
            life.engine.noteLocalWrite()
        }
    }

    func sync(_ daemon: SimulatedDaemon, full: Bool, deletes: Set<String> = []) {
        guard let life = daemon.life else { return }
        Task { [log, number = daemon.number] in
            do throws(SyncError) {
                try await life.engine.sync(SyncRequest(full: full, deletes: deletes))
                log.add("d\(number) has synced")
            } catch {
                log.add("d\(number) has not synced: \(error)")
            }
        }
    }

    func pause(_ daemon: SimulatedDaemon) {
        guard let life = daemon.life else { return }
        Task { [log, mutation, number = daemon.number] in
            if mutation != .ignoresPause { await life.engine.pause() }
            life.upstream.pauseBegins()
            log.add("d\(number) is paused")
        }
    }

    func resume(_ daemon: SimulatedDaemon) {
        guard let life = daemon.life else { return }
        Task { [log, number = daemon.number] in
            life.upstream.pauseEnds()
            log.add("d\(number) is resumed")
            await life.engine.resume()
        }
    }

    private func parent(of key: String, _ entity: String, _ life: SimulatedDaemon.Life) -> String? {
        guard let (field, _) = SimulationSettings.parents[entity], let record = try? life.store.record(entity, key: key)
        else {
            return nil
        }
        return (try? JSONText(record))?[field]?.string
    }

    func pickLocalKey(_ life: SimulatedDaemon.Life, _ entity: String, _ pick: Int) -> String? {
        let keys = (try? CacheReader(store: life.store).visibleKeys(entity)) ?? []
        return keys.isEmpty ? nil : keys[pick % keys.count]
    }
}
