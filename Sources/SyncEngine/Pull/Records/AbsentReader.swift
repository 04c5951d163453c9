internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Asks again for records that the upstream lacked when a caller asked for them: those that it lacks again are deleted.
struct AbsentReader {
    let environment: SyncEnvironment
    let upstream: any Upstream

    private var store: CacheStore { environment.store }
    private var settle: Duration { environment.schema.upstream.settle }

    /// Throws what concerns the whole upstream. A record that cannot be asked for stays until someone asks again, or a full
    /// pull lacks it.
    func read() async throws {
        let marks = environment.absences
        for name in marks.due(AbsenceJudge.most, at: environment.monotonicNow(), after: settle) {
            do {
                if try await !askAgain(for: name) { marks.forget(name) }
            } catch {
                // One such record must not fail every pull.
                marks.forget(name)
                guard let failure = error as? UpstreamError, !failure.concernsWholeUpstream else { throw error }
            }
        }
    }

    /// Asks for the record, and deletes it if it is gone. True if it is absent, but another version of it has come since that
    /// was first seen: then the wait begins again.
    private func askAgain(for name: RecordName) async throws -> Bool {
        guard let entity = environment.schema[name.entity],
            case .known(let key, let known) = try store.remoteState(of: name.key, entity.name),
            entity.recordPath(of: known) != nil
        else { return false }
        let position = try store.position()
        let judge = AbsenceJudge(environment, upstream)
        guard let found = try await judge.read(known, of: entity) else {
            guard try await judge.verdict(on: known, of: entity, wasRead: true) == .gone else { return false }
            let now = environment.monotonicNow()
            guard environment.absences.confirms(name, known: known, at: now, after: settle) else { return true }
            _ = try await store.delete([key], of: entity.name, position: position, at: environment.now())
            return false
        }
        guard entity.isKey(key, of: found.record) else { return false }
        try await store.apply([found], of: entity, position: position, at: environment.now())
        return false
    }
}
