import EntitySchema
import JSONText

/// The checks that the running daemon makes for `GET /v1/_doctor`.
///
/// Each is quick: it looks at files as the daemon's own user, and at what the daemon knows of the upstream already. It starts no
/// program, opens no database, and sends nothing. `doctor` makes these checks and more.
struct RunningChecks: Sendable {
    let configuration: Configuration
    let schema: EntitySchema
    let finder: SchemaFinder
    /// That of the database in use.
    let database: String
    let now: @Sendable () -> Timestamp

    /// `status` is as `GET /v1/status` answers.
    func findings(_ status: JSONText) -> [Finding] {
        let known = StatusChecks(status: status, configuration: configuration)
        let said = status["warnings"]?.elements.map(\.plain) ?? []
        let config = configuration.warnings.filter { !said.contains($0) }.map {
            Finding.warning("config", $0, "correct the configuration, then reload the daemon")
        }
        return [known.summary()] + known.needs() + known.rescue() + conflicts(status) + config
            + StateChecks(configuration: configuration, schema: schema).findings()
            + DatabaseChecks(configuration: configuration, path: database, now: now()).withoutOpening()
            + UpstreamChecks(configuration: configuration, schema: schema, finder: finder, now: now).findings(
                in: status)
            + SignalChecks(configuration: configuration, schema: schema).findings()
    }

    private func conflicts(_ status: JSONText) -> [Finding] {
        let open = status["conflicts"]?.integer ?? 0
        guard open > 0 else { return [] }
        return [
            .warning(
                "conflicts", "\(open.counted("conflict waits", "conflicts wait")) for a decision",
                "see \(configuration.command("conflicts --open"))")
        ]
    }
}
