internal import Upstream

/// The upstream as each kind of work calls it: whether its requests are refused, and what is recorded of their outcome.
extension HealthMonitor {
    /// For all work: refuses requests while the upstream is down, has asked to be left alone, or syncing is paused.
    /// `heartbeat` is that of the calling loop; each request beats it. A pull is in the background of everything else.
    nonisolated func guardedUpstream(
        for heartbeat: Heartbeat? = nil, _ urgency: RequestBudget.Urgency = .urgent
    ) -> GuardedUpstream {
        let turn = RequestTurn(urgency: urgency) { heartbeat?.sleep(for: $0) }
        return GuardedUpstream(
            upstream: environment.upstream.taking(turn), schema: environment.schema,
            refusal: {
                heartbeat?.beat()
                return await self.refusal
            },
            report: {
                heartbeat?.beat()
                await self.note($1, about: $0)
            })
    }

    /// For pulls: a 401 or 429 to a read holds nothing until `meaning` has found out what it concerns.
    nonisolated func pullUpstream(for heartbeat: Heartbeat) -> GuardedUpstream {
        var guarded = guardedUpstream(for: heartbeat, .background)
        guarded.report = { [report = guarded.report] origin, error in
            switch error {
            case .unauthorized where origin.entity != nil, .throttled where origin.entity != nil:
                await self.noteReachable()
            default: await report(origin, error)
            }
        }
        return guarded
    }

    /// For reads that callers ask for. They choose which record, so a failure says nothing about other requests.
    nonisolated func askedUpstream(_ urgency: RequestBudget.Urgency = .urgent) -> GuardedUpstream {
        var guarded = guardedUpstream(for: nil, urgency)
        guarded.report = { [report = guarded.report] origin, error in
            if case .unclear = error { return }
            await report(origin, error)
        }
        return guarded
    }

    /// For finding out whether a failing upstream works again: refuses requests only while syncing is paused.
    nonisolated var trialUpstream: GuardedUpstream {
        GuardedUpstream(
            upstream: environment.upstream, schema: environment.schema,
            refusal: { await self.isPaused ? .held("syncing is paused") : nil },
            report: { await self.note($1, about: $0) })
    }

    /// For probes, which are made at any time; `RecoveryProbe` records their outcome.
    nonisolated var probeUpstream: GuardedUpstream {
        GuardedUpstream(
            upstream: environment.upstream, schema: environment.schema, refusal: { nil }, report: { _, _ in })
    }
}
