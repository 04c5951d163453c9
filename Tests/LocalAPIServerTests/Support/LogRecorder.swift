import Logging
import Synchronization

/// Keeps what is logged.
final class LogRecorder: Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]

        /// The metadata in the order of its names.
        var text: String {
            let values = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return "\(level) \(message) \(values.joined(separator: " "))"
        }
    }

    private let all = Mutex<[Line]>([])

    var lines: [Line] { all.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(
                level: event.level, message: "\(event.message)",
                metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
            recorder.all.withLock { $0.append(line) }
        }
    }
}
