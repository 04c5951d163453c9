import Logging
import Synchronization

/// Keeps what is logged at a level or a worse one.
final class LogLines: LogHandler, Sendable {
    struct Line {
        var level: Logger.Level
        var message: String
        var metadata: [String: String]
    }

    private let lines = Mutex<[Line]>([])
    private let level: Logger.Level

    init(from level: Logger.Level = .notice) { self.level = level }

    var all: [Line] { lines.withLock { $0 } }
    var warnings: [Line] { all.filter { $0.level == .warning } }
    var logger: Logger { Logger(label: "test") { _ in self } }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { level }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let line = Line(
            level: event.level, message: event.message.description,
            metadata: (event.metadata ?? [:]).mapValues(\.description))
        lines.withLock { $0.append(line) }
    }
}

extension Logger {
    /// Keeps nothing.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
