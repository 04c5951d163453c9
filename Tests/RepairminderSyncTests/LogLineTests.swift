import EntitySchema
import JSONText
import Logging
import Synchronization
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct LogLineTests {
    static let time = Timestamp.sample

    private func line(_ message: String, _ metadata: Logger.Metadata = [:], level: Logger.Level = .info) -> LogLine {
        LogLine(time: Self.time, level: level, label: "sync", message: message, metadata: metadata)
    }

    @Test("a line has time, level, label, message and values sorted by name")
    func text() {
        let text = line("pulled", ["seen": "500", "entity": "orders"]).text
        #expect(text == "\(Self.time) info sync: pulled entity=orders seen=500")
    }

    @Test(
        "a value is quoted when its end would be ambiguous",
        arguments: [
            ("plain", "plain"), ("", #""""#), ("a b", #""a b""#), ("a=b", #""a=b""#), ("a\"b", #""a\"b""#),
            ("a\nb", #""a\nb""#), ("a\\b", #""a\\b""#), ("é", "é"), ("a\u{1B}[31m", #""a\u001b[31m""#),
        ])
    func quoting(value: String, shown: String) {
        #expect(line("m", ["v": .string(value)]).text.hasSuffix("sync: m v=\(shown)"))
    }

    @Test(
        "no event breaks a line or controls the terminal",
        arguments: ["\n", "\r\n", "\u{85}", "\u{2028}", "\u{1B}", "\u{9B}", "\u{7F}", "\u{202E}", "\u{2066}"])
    func oneLine(breaker: String) throws {
        let line = line("a\(breaker)b", ["v": .string("c\(breaker)d")])
        for text in [line.text, line.journalText, line.json] {
            #expect(!text.unicodeScalars.contains { breaker.unicodeScalars.contains($0) })
        }
        let read = try JSONText(parsing: line.json)
        #expect(read["message"]?.string == "a\(breaker)b")
    }

    @Test(
        "journal lines have a priority and no time",
        arguments: zip(Logger.Level.allCases, [7, 7, 6, 5, 4, 3, 2]))
    func journal(level: Logger.Level, priority: Int) {
        #expect(line("hello", level: level).journalText == "<\(priority)>sync: hello")
    }

    @Test("in JSON an event is one object with nested values")
    func json() throws {
        let text = line("a\nb", ["n": ["x", ["k": "v"]], "s": "1"]).json
        #expect(
            text == #"{"time":"\#(Self.time)","level":"info","label":"sync","message":"a\nb","#
                + #""metadata":{"n":["x",{"k":"v"}],"s":"1"}}"#)
        #expect(throws: Never.self) { try JSONText(parsing: text) }
    }

    @Test("the logger writes events at or above its level, with its own and the event's values")
    func handler() {
        let sink = Sink()
        var log = Logger(label: "pull") { label in
            LineLogHandler(label: label, level: .info, style: .text, now: { Self.time }, write: sink.write)
        }
        log[metadataKey: "run"] = "1"
        log[metadataKey: "entity"] = "none"
        log.debug("too fine")
        log.warning("slow", metadata: ["entity": "orders"])
        #expect(sink.lines == ["\(Self.time) warning pull: slow entity=orders run=1\n"])
    }

    @Test("text has a special format in the journal, JSON does not")
    func styles() {
        #expect(LineLogHandler.Style(format: .text, isJournal: true) == .journal)
        #expect(LineLogHandler.Style(format: .text, isJournal: false) == .text)
        #expect(LineLogHandler.Style(format: .json, isJournal: true) == .json)
    }
}

/// Collects written lines.
private final class Sink: Sendable {
    private let written = Mutex<[String]>([])

    var lines: [String] { written.withLock { $0 } }

    @Sendable func write(_ line: String) { written.withLock { $0.append(line) } }
}
