internal import EntitySchema
internal import Logging
internal import Upstream

/// Lists that the upstream asks to wait with, while others go on.
extension HealthMonitor {
    /// Throws `.refused` while only this entity's list waits.
    func requireMayRead(_ entity: String) throws {
        let time = environment.monotonicNow()
        guard let end = lists.wait(with: entity, at: time) else { return }
        throw UpstreamError.refused(
            status: 429, "the upstream asks to wait with this list for another \(end.since(time)); others are read")
    }

    /// These entities, with the lists last with which the upstream has asked to wait.
    func inOrder(_ entities: [String]) -> [String] {
        entities.filter { !lists.isSuspect($0) } + entities.filter(lists.isSuspect)
    }

    /// The upstream asks to wait with an entity's list. Returns what that means: `.refused` if only this list waits. Else
    /// everything does.
    func noteWait(_ delay: Duration, _ message: String, withReadsOf entity: String) -> UpstreamError {
        let time = environment.monotonicNow()
        let end = time + environment.schedule.holdWait(asked: delay)
        guard let times = lists.noteWait(with: entity, until: end, at: time) else {
            hold(for: delay, message, RequestOrigin())
            return .throttled(delay, message)
        }
        if times == 1 {
            environment.log.warning(
                "the upstream asks to wait with one list; others go on",
                metadata: ["for": "\(delay)", "error": "\(message)", "entity": "\(entity)"])
        }
        return .refused(status: 429, "\(message); others are served, so only this list waits")
    }

    /// Waits as the upstream asks in the middle of a list. False if it asks for longer than a minute, or for something else,
    /// and while syncing is paused: then the list is left, and goes on later.
    func waitsOut(_ error: UpstreamError, inListOf entity: String, by heartbeat: Heartbeat) async throws -> Bool {
        guard case .throttled(let delay, let message) = error, delay <= .seconds(60) else { return false }
        _ = noteWait(delay, message, withReadsOf: entity)
        while let end = heldUntil ?? lists.wait(with: entity, at: environment.monotonicNow()) {
            let wait = end.since(environment.monotonicNow())
            // Another request may have been asked to wait for longer.
            guard wait <= .seconds(120), !isPaused else { return false }
            heartbeat.sleep(for: wait)
            try await environment.clock.sleep(for: wait)
        }
        return true
    }
}
