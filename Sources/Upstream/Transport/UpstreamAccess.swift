package import EntitySchema

/// What every request to one upstream needs: its address, rules, transport and budget.
package struct UpstreamAccess: Sendable {
    package var plan: UpstreamPlan
    /// Replaces the address of the plan.
    package var baseURL: String?
    package var transport: any HTTPTransport
    /// The stored credentials that requests contain.
    package var secrets: SecretFiles?
    /// Observes every response.
    package var clock: ServerClock?
    /// Nil if the upstream has no limits.
    package var budget: RequestBudget?
    package var now: @Sendable () -> Timestamp

    package init(
        plan: UpstreamPlan, baseURL: String? = nil, transport: any HTTPTransport, secrets: SecretFiles? = nil,
        clock: ServerClock? = nil, budget: RequestBudget? = nil, now: @escaping @Sendable () -> Timestamp
    ) {
        self.plan = plan
        self.baseURL = baseURL
        self.transport = transport
        self.secrets = secrets
        self.clock = clock
        self.budget = budget
        self.now = now
    }
}
