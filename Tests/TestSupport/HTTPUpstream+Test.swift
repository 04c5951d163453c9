package import EntitySchema
package import Upstream

extension HTTPUpstream {
    /// An upstream with what most tests need; see `UpstreamAccess` for the rest.
    package init(
        plan: UpstreamPlan, baseURL: String? = nil, transport: any HTTPTransport, token: (any Credentials)? = nil,
        budget: RequestBudget? = nil, now: @escaping @Sendable () -> Timestamp = { .sample }
    ) {
        self.init(
            UpstreamAccess(plan: plan, baseURL: baseURL, transport: transport, budget: budget, now: now), token: token)
    }
}
