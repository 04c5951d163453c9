import EntitySchema
import Logging

/// The composition root: makes everything that the daemon consists of, hands it down, and runs it.
struct Daemon: Sendable {
    let configuration: Configuration
    let schema: EntitySchema
    let now: @Sendable () -> Timestamp
    /// Makes the logger of one part, named in each of its lines.
    let logger: @Sendable (_ label: String) -> Logger

    init(
        configuration: Configuration, schema: EntitySchema, now: @escaping @Sendable () -> Timestamp,
        logger: @escaping @Sendable (_ label: String) -> Logger
    ) {
        self.configuration = configuration
        self.schema = schema
        self.now = now
        self.logger = logger
    }

    /// Returns when the process is told to stop.
    func run() async throws {
        let log = logger("daemon")
        for warning in configuration.warnings { log.warning("\(warning)") }
        throw CommandFailure(.internalError, "this build cannot run the daemon yet")
    }
}
