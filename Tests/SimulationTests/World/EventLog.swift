import Logging
import Synchronization

/// Every event of a simulation, one line each, in order.
final class EventLog: Sendable {
    private let lines = Mutex<[String]>([])
    private let executor: SimulatedExecutor

    init(executor: SimulatedExecutor) {
        self.executor = executor
    }

    var text: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
        let milliseconds = executor.now / .milliseconds(1)
        lines.withLock { $0.append("\(Int(milliseconds)) #\(executor.jobs) \(line)") }
    }
}

/// Adds the engine's log lines to the simulation's log.
struct EventLogHandler: LogHandler {
    let log: EventLog
    let name: String
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(log: EventLog, name: String) {
        self.log = log
        self.name = name
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let members = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        log.add("\(name) logs: \(event.message)\(members.joined())")
    }
}
