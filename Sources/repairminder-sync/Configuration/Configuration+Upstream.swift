import EntitySchema
import Upstream

extension Configuration {
    /// The way to the upstream of `plan`, with the address and the stored credentials configured here.
    func access(
        to plan: UpstreamPlan, over transport: any HTTPTransport, clock: ServerClock? = nil,
        budget: RequestBudget? = nil, now: @escaping @Sendable () -> Timestamp
    ) -> UpstreamAccess {
        UpstreamAccess(
            plan: plan, baseURL: upstream.baseURL, transport: transport,
            secrets: SecretFiles(paths: upstream.secrets), clock: clock, budget: budget, now: now)
    }
}
