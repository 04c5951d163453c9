import EntitySchema
import Glibc
import JSONText
import LocalAPI
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct TableTests {
    private let terminal = Presentation(width: 40)

    @Test("at a terminal columns are aligned and no line ends in spaces")
    func aligned() {
        let table = Table(header: ["id", "name"], rows: [["1", "Ada"], ["200", ""]])
        #expect(table.rendered(terminal).plain == "id   name\n1    Ada\n200\n")
    }

    @Test("for programs tabs separate the columns, and times stay as they are")
    func separated() {
        let table = Table(header: ["id", "at", "x"], rows: [["1", "2026-11-21T10:42:00.000Z", ""]])
        #expect(table.rendered(.programs).plain == "id\tat\tx\n1\t2026-11-21T10:42:00.000Z\t\n")
    }

    @Test("wide and combining characters have the width that a terminal gives them")
    func widths() {
        #expect(TextWidth.of("日本") == 4)
        #expect(TextWidth.of("e\u{301}") == 1)
        #expect(TextWidth.of("👍") == 2)
        #expect(TextWidth.cut("日本語", to: 4) == "日…")
        #expect(TextWidth.cut("abc", to: 3) == "abc")
    }

    @Test("columns that do not fit are left out from the right and named, but never keys and kept ones")
    func dropped() {
        let table = Table(
            header: ["id", "title", "notes", "error"],
            rows: [["ord_58c1dc06b63982f581", "a long title", "and long notes", "no such"]], kept: ["error"])
        #expect(
            table.rendered(terminal).plain == """
                id                      error
                ord_58c1dc06b63982f581  no such
                not shown: title, notes; --wide shows all

                """)
        #expect(table.rendered(Presentation(width: 40, isWide: true)).plain.contains("and long notes  no such\n"))
    }

    @Test("empty columns are left out first, and not named")
    func empty() {
        let table = Table(header: ["id", "a", "b"], rows: [["1234567890", "1234567890", ""]])
        #expect(table.rendered(Presentation(width: 22)).plain == "id          a\n1234567890  1234567890\n")
    }

    @Test("a text that does not fit is wrapped between words; a key that does not fit makes the line longer")
    func wrapped() {
        let table = Table(
            header: ["id", "error"], rows: [["1", "the upstream refused the change of this order"]],
            kept: ["error"], wrapped: ["error"])
        #expect(
            table.rendered(Presentation(width: 30)).plain == """
                id  error
                1   the upstream refused the
                    change of this order

                """)
        #expect(TextWidth.wrapped("abcdefgh ij", to: 4) == ["abcd", "efgh", "ij"])
        let key = Table(header: ["id", "b"], rows: [["a-key-that-is-too-long", "x"]], kept: ["b"])
        #expect(key.rendered(Presentation(width: 10)).plain.contains("a-key-that-is-too-long  x\n"))
    }

    @Test("states have colours where there are colours, and records cannot add any")
    func colours() {
        let text = Table(header: ["id", "state"], rows: [["\u{1B}[31m", "failed"]]).rendered(terminal)
        #expect(text.painted.contains("\u{1B}[31mfailed\u{1B}[0m"))
        #expect(text.painted.contains("\\u001b[31m"))
        #expect(!text.plain.contains("\u{1B}"))
    }

    @Test("NO_COLOR and a dumb terminal turn colours off, and without a terminal there are none")
    func withoutColours() {
        // Standard output of a test is no terminal.
        #expect(Presentation.standard(environment: [:], now: Timestamp(milliseconds: 0)).hasColours == false)
    }

    @Test("a terminal that does not tell its width is one for people too")
    func unknownWidth() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        defer { close(terminal) }
        func presentation(_ environment: [String: String]) -> Presentation {
            .standard(
                StandardStream(descriptor: terminal), environment: environment, now: Timestamp(milliseconds: 0))
        }
        #expect(presentation([:]).width == 80 && presentation([:]).times != nil)
        #expect(presentation(["COLUMNS": "132"]).width == 132 && presentation(["COLUMNS": "0"]).width == 80)
    }

    @Test("columns can be chosen and sorted by, numbers as numbers")
    func chosen() throws {
        let table = Table(header: ["id", "n"], rows: [["a", "10"], ["b", "9"], ["c", "10"]])
        #expect(try table.sorted(by: SortTerm.list("-n,id")).rows.map(\.[0]) == ["a", "c", "b"])
        #expect(try table.sorted(by: SortTerm.list("n")).rows.map(\.[0]) == ["b", "a", "c"])
        #expect(try table.only(["n"]).rows == [["10"], ["9"], ["10"]])
        let error = #expect(throws: CommandFailure.self) { try table.only(["x"]) }
        #expect(error?.message == "there is no column x; the columns are id, n")
    }

    @Test("people see how long ago a time is, or the local time; programs see it as it is")
    func times() {
        let now = Timestamp(milliseconds: 1_763_721_720_000)
        let text = TimeText(now: now) { _ in 3600 }
        func brief(_ seconds: Int) -> String? { text.text(of: "\(now + .seconds(seconds))", .brief) }
        #expect(brief(-2) == "just now")
        #expect(brief(-42) == "42 s ago")
        #expect(brief(-180) == "3 min ago")
        #expect(brief(7200) == "in 2 h")
        #expect(brief(-90_000) == "2025-11-20 10:42")
        #expect(text.text(of: "\(now)", .whole) == "2025-11-21 11:42:00 (just now)")
        for other in ["2026-11-21", "ready", "2026-11-21T10:42", "2026-11-21T10:42:00Z and more"] {
            #expect(text.text(of: other, .brief) == nil)
        }
    }

    @Test("untrusted text stays on one line and cannot control the terminal")
    func controls() {
        let table = Table(header: ["x"], rows: [["a\nb\tc\u{1B}[31md"]])
        #expect(table.rendered(.programs).plain == "x\na b c\\u001b[31md\n")
        #expect(table.rendered(terminal).plain == "x\na b c\\u001b[31md\n")
    }

    @Test("a list keeps its key, the natural keys and what it is sorted by")
    func keptColumns() throws {
        let record = try JSONText(parsing: #"{"id":"1","a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"sorted_at":"x"}"#)
        let table = RecordTable.list([record], fields: nil, kept: ["id", "sorted_at"])
        #expect(table.header == ["id", "sorted_at", "a", "b", "c", "d", "e"])
        #expect(table.kept == ["id", "sorted_at", "sync"])
        #expect(RecordTable.list([record], fields: nil, isWide: true).header.count == 8)
    }

    @Test("a list that is sorted by a natural key has its column once")
    func sortedByNaturalKey() throws {
        let record = try JSONText(parsing: #"{"id":"1","number":7,"a":1}"#)
        let table = RecordTable.list([record], fields: nil, kept: ["id", "number", "number"])
        #expect(table.header == ["id", "number", "a"])
    }

    @Test("many records with other fields each take no time that grows with their square", .timeLimit(.minutes(10)))
    func manyFields() throws {
        let records = try (0..<100_000).map { try JSONText(parsing: #"{"id":"\#($0)","a\#($0)":1}"#) }
        #expect(RecordTable.list(records, fields: nil).header == ["id", "a0", "a1", "a2", "a3", "a4", "a5"])
    }

    @Test("a list shows the id, the most informative fields and the sync state")
    func list() throws {
        let record = try JSONText(
            parsing: #"""
                {"client_id":"c","created_at":"2026","id":"1","address":{"a":1},"colour":"red","total":129.90,"status":"ready",
                "order_number":7,"notes":null,"_sync":{"state":"pending","pending_fields":["status"]}}
                """#)
        let table = RecordTable.list([record], fields: nil)
        #expect(table.header == ["id", "order_number", "status", "total", "created_at", "colour", "sync"])
        #expect(table.rows == [["1", "7", "ready", "129.90", "2026", "red", "pending status"]])
        #expect(RecordTable.list([record], fields: ["total"]).header == ["total", "sync"])
    }

    @Test("a list shows a field that records have at another place")
    func fieldElsewhere() throws {
        let shape = EntityShape(
            try JSONText(parsing: #"{"fields":[{"name":"name","from":"who.name"},{"name":"no","from":null}]}"#))
        let records = [#"{"id":"1","who":{"name":"Ada"}}"#, #"{"id":"2","who":{"name":"Ada"},"name":"Eve"}"#]
        let table = RecordTable.list(try records.map { shape.named(try JSONText(parsing: $0)) }, fields: nil)
        #expect(table.header == ["id", "name"])
        #expect(table.rows == [["1", "Ada"], ["2", "Eve"]])
    }

    @Test("a list whose key is not called id begins with that key")
    func otherKey() throws {
        let record = try JSONText(parsing: #"{"course_id":"c1","percent":0,"letter":"F"}"#)
        let table = RecordTable.list([record], fields: nil)
        #expect(table.header == ["course_id", "percent", "letter"])
        #expect(table.rows == [["c1", "0", "F"]])
    }

    @Test("one record has a line per field, with the upstream's error")
    func one() throws {
        let record = try JSONText(
            parsing: #"{"id":"1","total":129.90,"_sync":{"state":"error","error":{"message":"no"}}}"#)
        #expect(
            RecordTable.one(record).rows == [["id", "1"], ["total", "129.90"], ["sync", "error"], ["error", "no"]])
    }

    @Test("the status has a line per fact, with a tab for programs, and a row per entity")
    func status() throws {
        let status = try JSONText(
            parsing: #"""
                {"state":"syncing","phase":"pull orders","pending":3,"upstream":{"reachable":false},"error":null,
                "entities":{"orders":{"rows":2,"state":"syncing","last_synced_at":null}}}
                """#)
        #expect(
            StatusText.summary(status)
                == "state\tsyncing (pull orders)\nupstream\tunreachable\npending\t3\n")
        #expect(StatusText.entities(status).rows == [["orders", "2", "syncing", "", ""]])
    }

    @Test("people see in the status how long ago its times are")
    func statusTimes() throws {
        let status = try JSONText(
            parsing: #"""
                {"state":"idle","last_sync_at":"2026-11-21T09:39:00.000Z","next_sync_at":"2026-11-21T09:54:00.000Z",
                "signals":[{"kind":"sse","path":"/stream","connected":true,"last_signal_at":"2026-11-21T09:41:30.000Z"}]}
                """#)
        let times = TimeText(now: try #require(Timestamp(iso8601: "2026-11-21T09:42:00Z"))) { _ in 0 }
        #expect(
            StatusText.summary(status, times)
                == "state        idle\nlast sync    3 min ago\nnext sync    in 12 min\n")
        #expect(StatusText.signals(status, times)?.rows == [["sse", "/stream", "connected, last signal 30 s ago", ""]])
    }

    @Test("the status counts the parked deliveries of hooks, and tells people how to see them")
    func statusParked() throws {
        let status = try JSONText(parsing: #"{"state":"idle","parked_deliveries":3}"#)
        let times = TimeText(now: try #require(Timestamp(iso8601: "2026-11-21T09:42:00Z"))) { _ in 0 }
        #expect(StatusText.summary(status) == "state\tidle\nparked\t3\n")
        #expect(
            StatusText.summary(status, times)
                == "state        idle\nparked       3 of hooks; repairminder-sync hooks shows which\n")
    }

    @Test("the status has a row for each source of signals, and no table without sources")
    func signals() throws {
        let status = try JSONText(
            parsing: #"""
                {"signals":[
                {"kind":"sse","path":"/stream","connected":true,"last_signal_at":"2026-11-21T09:42:10.000Z","error":null},
                {"kind":"events","path":"/events","connected":false,"last_signal_at":null,"error":"no route"},
                {"kind":"webhook","path":"/hook","connected":null,"last_signal_at":"2026-11-21T09:42:11.000Z","error":null},
                {"kind":"webhook","path":"/other","connected":null,"last_signal_at":null,"error":null}]}
                """#)
        #expect(
            StatusText.signals(status)?.rows == [
                ["sse", "/stream", "connected, last signal 2026-11-21T09:42:10.000Z", ""],
                ["events", "/events", "disconnected", "no route"],
                ["webhook", "/hook", "last signal 2026-11-21T09:42:11.000Z", ""],
                ["webhook", "/other", "no signal yet", ""],
            ])
        #expect(StatusText.signals(try JSONText(parsing: #"{"signals":[]}"#)) == nil)
        #expect(StatusText.signals(try JSONText(parsing: "{}")) == nil)
    }

    @Test("all pages of a list become one, with numbers unchanged")
    func pages() async throws {
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            let isFirst = !request.target.contains("cursor")
            let body = isFirst ? #"{"data":[{"n":1.10}],"next":"a b"}"# : #"{"data":[{"n":2.0}],"next":null}"#
            guard isFirst || request.target == "/v1/orders?limit=1&cursor=a%20b" else {
                throw .unexpected(request.target)
            }
            return LocalAPIResponse(status: 200, body: Array(body.utf8))
        }
        let all = try await ListPages.all(of: "/v1/orders", query: [("limit", "1")], client)
        #expect(all.text == #"{"data":[{"n":1.10},{"n":2.0}],"next":null}"#)
    }

    @Test("pages joined to one list are not complete if one of them is not")
    func incompletePages() async throws {
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            let body =
                request.target.contains("cursor")
                ? #"{"data":[2],"next":null}"# : #"{"data":[1],"next":"a","complete":false}"#
            return LocalAPIResponse(status: 200, body: Array(body.utf8))
        }
        let all = try await ListPages.all(of: "/v1/orders", query: [], client)
        #expect(all.text == #"{"data":[1,2],"next":null,"complete":false}"#)
    }

    /// A daemon that names a next page each time.
    private func endless(_ page: String) -> LocalAPIClient {
        let calls = Counter()
        return LocalAPIClient { (_) throws(LocalAPIError) in
            LocalAPIResponse(status: 200, body: Array(#"{"data":[\#(page)],"next":"\#(calls.next())"}"#.utf8))
        }
    }

    @Test("a list without end is left before it fills the memory", arguments: ["{}", #"{"n":"aaaaaaaaaaaaaaaa"}"#, ""])
    func endlessList(_ page: String) async throws {
        let client = endless(page)
        await #expect(throws: LocalAPIError.self) {
            _ = try await ListPages.all(of: "/v1/orders", query: [], client, largest: 64 << 10)
        }
    }

    @Test("search results have one row each")
    func hits() throws {
        let hits = try JSONText(parsing: #"[{"entity":"clients","id":"a","title":"Ada","snippet":"«Ada»"}]"#)
        #expect(
            SearchCommand.table(hits.elements).rendered(.programs).plain
                == "entity\tid\ttitle\tsnippet\nclients\ta\tAda\t«Ada»\n")
    }
}
