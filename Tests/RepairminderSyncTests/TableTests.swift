import JSONText
import LocalAPI
import Testing

@testable import repairminder_sync

@Suite struct TableTests {
    @Test("columns are aligned and no line ends in spaces")
    func aligned() {
        let table = Table(header: ["id", "name"], rows: [["1", "Ada"], ["200", ""]])
        #expect(table.rendered(width: nil) == "id   name\n1    Ada\n200\n")
    }

    @Test("wide and combining characters have the width that a terminal gives them")
    func widths() {
        #expect(TextWidth.of("日本") == 4)
        #expect(TextWidth.of("e\u{301}") == 1)
        #expect(TextWidth.of("👍") == 2)
        #expect(TextWidth.cut("日本語", to: 4) == "日…")
        #expect(TextWidth.cut("abc", to: 3) == "abc")
    }

    @Test("the widest column is cut to fit the terminal; without a terminal nothing is cut")
    func cut() {
        let table = Table(header: ["id", "notes"], rows: [["1", "a very long text indeed"]])
        #expect(table.rendered(width: 14) == "id  notes\n1   a very lo…\n")
        #expect(table.rendered(width: nil).contains("a very long text indeed"))
    }

    @Test("untrusted text stays on one line and cannot control the terminal")
    func controls() {
        let table = Table(header: ["x"], rows: [["a\nb\u{1B}[31mc"]])
        #expect(table.rendered(width: nil) == "x\na b\\u001b[31mc\n")
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

    @Test("the status has a line per fact and a row per entity")
    func status() throws {
        let status = try JSONText(
            parsing: #"""
                {"state":"syncing","phase":"pull orders","pending":3,"upstream":{"reachable":false},"error":null,
                "entities":{"orders":{"rows":2,"state":"syncing","last_synced_at":null}}}
                """#)
        #expect(
            StatusText.summary(status)
                == "state        syncing (pull orders)\nupstream     unreachable\npending      3\n")
        #expect(StatusText.entities(status).rows == [["orders", "2", "syncing", "", ""]])
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
}
