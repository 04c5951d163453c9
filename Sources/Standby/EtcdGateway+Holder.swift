extension EtcdGateway {
    /// What the daemon that holds the lease is called; nil if none does. Changes nothing.
    package func holder(of settings: StandbySettings) async throws(StandbyError) -> String? {
        try await entries(settings.holderKey, limit: 1).first?.name
    }
}
