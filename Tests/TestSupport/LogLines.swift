package import Logging
internal import Synchronization

/// Keeps what is logged at a level or a worse one.
package final class LogLines: LogHandler, Sendable {
    package struct Line: Sendable {
        package var level: Logger.Level
        package var message: String
        package var metadata: [String: String]

        /// With the metadata in the order of its names.
        package var text: String {
            let values = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return "\(level) \(message) \(values.joined(separator: " "))"
        }
    }

    private let lines = Mutex<[Line]>([])
    private let level: Logger.Level

    package init(from level: Logger.Level = .notice) { self.level = level }

    package var all: [Line] { lines.withLock { $0 } }
    package var warnings: [Line] { all.filter { $0.level == .warning } }
    package var logger: Logger { Logger(label: "test") { _ in self } }

    package var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    package var logLevel: Logger.Level {
        get { level }
        set {}
    }
    package subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    package func log(event: LogEvent) {
        let line = Line(
            level: event.level, message: event.message.description,
            metadata: (event.metadata ?? [:]).mapValues(\.description))
        lines.withLock { $0.append(line) }
    }
}

extension Logger {
    /// Keeps nothing.
    package static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
