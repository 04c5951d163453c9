import EntitySchema
import Upstream

extension Configuration {
    /// Access to the upstream of `plan`, with the configured address and stored credentials.
    func access(
        to plan: UpstreamPlan, over transport: any HTTPTransport, clock: ServerClock? = nil,
        budget: RequestBudget? = nil, now: @escaping @Sendable () -> Timestamp
    ) -> UpstreamAccess {
        UpstreamAccess(
            plan: plan, baseURL: upstream.baseURL, transport: transport,
            secrets: SecretFiles(paths: upstream.secrets), clock: clock, budget: budget, now: now)
    }
}
