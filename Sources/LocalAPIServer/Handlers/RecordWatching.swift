internal import CacheStore
internal import EntitySchema
internal import SQLiteStore
internal import SocketServer

/// Waiting for the next version of one record: `If-None-Match` with `Prefer: wait=30`.
extension Handlers {
    /// One record, as `read` answers. If the caller has that version and would wait, answers as soon as there is
    /// another one, or with 304 after that time.
    func get(_ entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        let response = try await read(entity, key, request)
        guard response.status == 304, let seconds = Preference(request).wait, seconds > 0 else { return response }
        guard let place = places.waiting.take(for: request) else {
            throw Problem.unavailable("too many callers wait for a record; follow GET /v1/changes instead")
        }
        defer { withExtendedLifetime(place) {} }
        let limit = min(seconds, Self.longestWait)
        var changed = try await within(.seconds(limit)) { try await nextVersion(of: entity, key, request) }
        try requireCaller(of: request)
        changed.headers.append(("Preference-Applied", "wait=\(limit)"))
        return changed
    }

    /// Throws if the session that let the caller in has ended while it waited.
    func requireCaller(of request: Request) throws(Problem) {
        guard !callers.mayContinue(request) else { return }
        throw Problem(
            .tokenRequired, "the session has ended; sign in again", headers: [("WWW-Authenticate", "Bearer")])
    }

    /// The longest wait, in seconds.
    private static let longestWait = 60

    /// Wakes with each commit, and reads this one record. Returns the last 304 when the task is cancelled or the server
    /// stops. The upstream is not asked again.
    private func nextVersion(of entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        while true {
            let commits = store.signal.commits
            let begun = metrics.uptime()
            let response = try await read(entity, key, request, fromCache: true)
            guard response.status == 304, !Task.isCancelled, !store.signal.isClosed else { return response }
            await letCommitsPass(after: metrics.uptime() - begun, callers: places.waiting.openCount)
            await store.signal.wait(after: commits)
        }
    }

    /// Returns after `pause`, if that is long enough to matter.
    func letCommitsPass(after reading: Duration, callers: Int) async {
        let pause = Self.pause(after: reading, callers: callers)
        if pause > .milliseconds(1) { try? await clock.sleep(for: pause) }
    }

    /// How long one of several callers, each of whom reads the same again after a commit, lets commits pass: so that reading for
    /// all of them takes a third of the time at most.
    static func pause(after reading: Duration, callers: Int) -> Duration {
        min(reading * callers * 2, .seconds(1))
    }
}
