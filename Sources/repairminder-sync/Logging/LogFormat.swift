/// How a log line is written.
enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}
