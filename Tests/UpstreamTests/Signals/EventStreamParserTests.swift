import Testing

@testable import Upstream

/// The examples of the WHATWG HTML standard's section "Server-sent events", and what hostile streams send.
@Suite("Reading event streams")
struct EventStreamParserTests {
    private typealias Event = EventStreamParser.Event

    private static func events(
        _ pieces: [some Sequence<UInt8>], largest: Int = 1 << 20
    ) -> (events: [Event], retry: Duration?) {
        var parser = EventStreamParser(largest: largest)
        var events: [Event] = []
        for piece in pieces { parser.take(piece) { events.append($0) } }
        return (events, parser.retry)
    }

    private static func events(_ text: String) -> [Event] { events([Array(text.utf8)]).events }

    private static func event(_ data: String, _ name: String = "message", id: String = "") -> Event {
        Event(name: name, data: data, id: id)
    }

    static let cases: [(text: String, events: [(data: String, name: String, id: String)])] = [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [("YHOO\n+2\n10", "message", "")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [("first event", "message", "1"), ("second event", "message", ""), (" third event", "message", "")]
        ),
        ("data\n\ndata\ndata\n\ndata:", [("", "message", ""), ("\n", "message", "")]),
        ("data:test\n\ndata: test\n\n", [("test", "message", ""), ("test", "message", "")]),
        (
            "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
            [("73857293", "add", ""), ("2153", "remove", "")]
        ),
        // The three ends of a line, mixed.
        ("data: a\r\ndata: b\rdata: c\n\r\n", [("a\nb\nc", "message", "")]),
        ("data: a\r\rdata: b\r\n\r\n", [("a", "message", ""), ("b", "message", "")]),
        // A byte order mark counts only at the beginning.
        ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n", [("a", "message", ""), ("c", "message", "")]),
        // An event without data is none, and its name is forgotten; its id is not.
        ("event: x\nid: 7\n\ndata: a\n\n", [("a", "message", "7")]),
        // Unknown fields, and an id with a NUL, are ignored.
        ("id: 1\n\nid: a\u{0}b\nfoo: bar\ndata: a\n\n", [("a", "message", "1")]),
        ("data: naïve ☕\nevent: größer\n\n", [("naïve ☕", "größer", "")]),
        // What is left at the end is no event.
        ("data: a\n\ndata: b\n", [("a", "message", "")]),
        (":\n:\n\n\n\n", []),
    ]

    @Test("each case of the standard gives its events, wherever the stream is cut", arguments: cases.indices)
    func standard(_ index: Int) {
        let (text, expected) = Self.cases[index]
        let bytes = Array(text.utf8)
        let events = expected.map { Event(name: $0.name, data: $0.data, id: $0.id) }
        #expect(Self.events([bytes]).events == events)
        #expect(Self.events(bytes.map { [$0] }).events == events)
        for cut in bytes.indices {
            #expect(Self.events([bytes[..<cut], bytes[cut...]]).events == events, "cut at \(cut)")
        }
    }

    @Test("retry counts only if it is all digits")
    func retry() {
        #expect(Self.events([Array("retry: 2500\n".utf8)]).retry == .milliseconds(2500))
        for text in ["retry: 2s\n", "retry: -1\n", "retry:\n", "retry\n", "retry: 99999999999999999999\n"] {
            #expect(Self.events([Array(text.utf8)]).retry == nil)
        }
    }

    @Test("bytes that are no UTF-8 are replaced")
    func invalid() {
        let bytes: [UInt8] = Array("data: a".utf8) + [0xFF, 0xC3] + Array("\n\n".utf8)
        #expect(Self.events([bytes]).events == [Self.event("a\u{FFFD}\u{FFFD}")])
    }

    @Test("an event that is too large arrives without its data, and the next one is whole")
    func large() {
        let line = "data: " + String(repeating: "x", count: 200) + "\n\ndata: ok\n\n"
        #expect(
            Self.events([Array(line.utf8)], largest: 100).events == [
                Event(name: "message", data: nil, id: ""), Self.event("ok"),
            ])
        let lines = String(repeating: "data: 0123456789\n", count: 20) + "\ndata: ok\n\n"
        #expect(
            Self.events([Array(lines.utf8)], largest: 100).events == [
                Event(name: "message", data: nil, id: ""), Self.event("ok"),
            ])
    }

    @Test("of the name of a field, no more is looked at than is needed", .timeLimit(.minutes(10)))
    func longField() {
        // Comparing this name takes minutes.
        let name = "a" + String(repeating: "\u{315}\u{316}", count: 250_000)
        #expect(Self.events("\(name): x\ndata: a\n\n") == [Self.event("a")])
        #expect(Self.events("events: x\ndatas: y\ndat: z\ndata: a\n\n") == [Self.event("a")])
    }

    @Test("an endless id is not kept")
    func longID() {
        let text = "id: 1\ndata: a\n\nid: \(String(repeating: "9", count: 2000))\ndata: b\n\n"
        #expect(Self.events(text).map(\.id) == ["1", "1"])
    }

    @Test("an id with a control character is not kept", arguments: ["a\u{1}", "\u{1B}[2J", "\u{7F}", "a\0", "a\tb"])
    func controlID(_ id: String) {
        #expect(Self.events("id: é\ndata: a\n\nid: \(id)\ndata: b\n\n").map(\.id) == ["é", "é"])
    }
}
