internal import Upstream

/// Learns which changes get through, to distinguish an account that may change nothing from a change that is refused.
struct PushPassage: Sendable {
    /// The change is about to be sent.
    var begins: @Sendable (Int64) async -> Void = { _ in }
    /// Nothing is sent, because of what a look-up or a merge says.
    var looksUp: @Sendable (Int64) async -> Void = { _ in }
    /// The upstream accepted the change, or refused it for what it says.
    var passes: @Sendable (Int64) async -> Void = { _ in }
    /// The upstream did not let the change through. `others`: changes that were not barred are ready.
    var verdict: @Sendable (Int64, _ message: String, _ others: Bool, AccountBar.Cause) async -> AccountBar.Verdict = {
        _, _, _, _ in .waits
    }
    /// Who must wait since the upstream asked to wait with the change; nil if it did not.
    var limit: @Sendable (ThrottledChanges.Change) async -> ThrottledChanges.Limit? = { _ in nil }
    /// The attempt ended, whatever came of it.
    var ends: @Sendable (Int64) async -> Void = { _ in }
    /// The changes that are being sent.
    var underWay: @Sendable () async -> Set<Int64> = { [] }
    /// The changes that did not get through.
    var barred: @Sendable () async -> Set<Int64> = { [] }
    /// Until the next trial.
    var wait: @Sendable () async -> Duration = { .seconds(60) }

    /// Makes an attempt of these changes and notes its end, whatever comes of it.
    ///
    /// One that was cancelled stays `uploading`: it is sent again with the same key at the next start.
    func noting(endOf changes: [Int64], _ attempt: () async throws -> UpstreamError?) async throws -> UpstreamError? {
        do {
            let error = try await attempt()
            for change in changes { await ends(change) }
            return error
        } catch {
            for change in changes { await ends(change) }
            throw error as? UpstreamError == .cancelled ? CancellationError() : error
        }
    }
}

extension PushPassage {
    init(_ monitor: HealthMonitor) {
        self.init(
            begins: { await monitor.noteBegin(of: $0) }, looksUp: { await monitor.noteLookUp(of: $0) },
            passes: { await monitor.notePass(of: $0) },
            verdict: { await monitor.verdict(onBarred: $0, $1, hasOthers: $2, cause: $3) },
            limit: { await monitor.throttled.limit(on: $0) }, ends: { await monitor.noteEnd(of: $0) },
            underWay: { await monitor.bar.underWay }, barred: { await monitor.bar.changes },
            wait: { await monitor.barWait ?? .zero })
    }
}
