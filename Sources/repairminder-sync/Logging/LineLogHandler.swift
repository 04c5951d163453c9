import EntitySchema
import Logging

/// Writes each log event as one line to a stream.
struct LineLogHandler: LogHandler {
    /// The format of a line at its destination.
    enum Style: Sendable {
        case text, journal, json

        /// Picks `journal` when standard error goes to systemd's journal, which records time and level itself.
        init(format: LogFormat, isJournal: Bool) {
            switch format {
            case .json: self = .json
            case .text: self = isJournal ? .journal : .text
            }
        }
    }

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let style: Style
    private let now: @Sendable () -> Timestamp
    private let write: @Sendable (String) -> Void

    /// `write` is called with one complete line, from any thread.
    init(
        label: String, level: Logger.Level, style: Style, now: @escaping @Sendable () -> Timestamp,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        logLevel = level
        self.style = style
        self.now = now
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        all.merge(metadataProvider?.get() ?? [:]) { $1 }
        all.merge(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = "\(error)" }
        let line = LogLine(
            time: now(), level: event.level, label: label, message: event.message.description, metadata: all)
        switch style {
        case .text: write(line.text + "\n")
        case .journal: write(line.journalText + "\n")
        case .json: write(line.json + "\n")
        }
    }
}

/// The configured format of log lines.
enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}
