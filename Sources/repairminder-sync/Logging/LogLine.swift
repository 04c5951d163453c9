import EntitySchema
import JSONText
import Logging

/// Formats one log event as one line, whatever its values contain.
struct LogLine {
    var time: Timestamp
    var level: Logger.Level
    /// The component that logs.
    var label: String
    var message: String
    var metadata: Logger.Metadata

    /// `2026-11-21T10:42:00.000Z info sync: pulled entity=orders seen=500`, with values sorted by name.
    var text: String { "\(time) \(level.rawValue) \(label): \(event)" }

    /// For the journal, which records time and priority itself: `<6>sync: pulled entity=orders` (sd-daemon(3)).
    var journalText: String { "<\(priority)>\(label): \(event)" }

    var json: String {
        var members: [(key: String, value: JSONText)] = [
            ("time", .string(time.description)), ("level", .string(level.rawValue)), ("label", .string(label)),
            ("message", .string(message)),
        ]
        if !metadata.isEmpty { members.append(("metadata", Self.json(.dictionary(metadata)))) }
        return TerminalText.safe(JSONText.object(members: members).text)
    }

    private var event: String {
        let values = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted("\($0.value)"))" }
        return Self.escaped(message) + values.joined()
    }

    /// The priority of syslog(3).
    private var priority: Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    /// The value unquoted when its end is unambiguous, otherwise as a JSON string.
    private static func quoted(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            !TerminalText.isUnsafe($0) && !" \"=\\".unicodeScalars.contains($0)
        }
        return isPlain && !value.isEmpty ? value : escaped(JSONText.string(value).text)
    }

    /// Text without anything that breaks the line or that a terminal obeys.
    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: TerminalText.isUnsafe) else { return text }
        return text.unicodeScalars.map { TerminalText.isUnsafe($0) ? escape($0) : String($0) }.joined()
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: TerminalText.escape(scalar)
        }
    }

    private static func json(_ value: Logger.MetadataValue) -> JSONText {
        switch value {
        case .string(let text): .string(text)
        case .stringConvertible(let value): .string("\(value)")
        case .array(let values): .array(values.map(json))
        case .dictionary(let values):
            .object(members: values.sorted { $0.key < $1.key }.map { (key: $0.key, value: json($0.value)) })
        }
    }
}
