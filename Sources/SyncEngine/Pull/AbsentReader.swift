internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Asks again for records that the upstream lacked when a caller asked for them: those that it lacks again are deleted.
struct AbsentReader {
    let environment: SyncEnvironment
    let upstream: any Upstream

    private static let most = 100

    private var store: CacheStore { environment.store }
    private var settle: Duration { environment.schema.upstream.settle }

    /// Throws what concerns the whole upstream. A record that cannot be asked for stays until someone asks again, or a full
    /// pull lacks it.
    func read() async throws {
        let marks = environment.absences
        for name in marks.due(Self.most, at: environment.monotonicNow(), after: settle) {
            // Also if it fails: one such record must not fail every pull.
            defer { marks.forget(name) }
            do {
                try await read(name)
            } catch let error as UpstreamError where !error.concernsWholeUpstream {}
        }
    }

    private func read(_ name: AbsenceMarks.Name) async throws {
        guard let entity = environment.schema[name.entity],
            case .known(let key, let known) = try store.remoteState(of: name.key, entity.name),
            entity.recordPath(of: known) != nil
        else { return }
        let position = try store.position()
        let judge = AbsenceJudge(store: store, upstream: upstream, schema: environment.schema, now: environment.now)
        guard let found = try await judge.read(known, of: entity) else {
            guard try await judge.verdict(on: known, of: entity, wasRead: true) == .gone,
                environment.absences.confirms(name, at: environment.monotonicNow(), after: settle)
            else { return }
            _ = try await store.delete([key], of: entity.name, position: position, at: environment.now())
            return
        }
        guard found.record[entity.key]?.plain == key else { return }
        _ = try await store.apply(PulledPage(single: [found], of: entity, position: position), at: environment.now())
    }
}
