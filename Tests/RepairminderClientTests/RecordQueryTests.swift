import Foundation
import RepairminderClient
import Testing

/// Conditions and queries as the daemon reads them.
@Suite("Queries of the client")
struct RecordQueryTests {
    /// The target of the request for a list.
    private func target(_ query: RecordQuery) async throws -> String {
        let script = Script(.json(#"{"data":[],"next":null}"#))
        _ = try await script.client.records("orders").page(query)
        let target = await script.requests.first?.target
        return try #require(target?.removingPercentEncoding)
    }

    @Test("a comparison is a parameter of its own")
    func comparisons() async throws {
        let query = RecordQuery(
            where: .equals("notes", "Yes, please"), .isOneOf("status", ["ready", "a,b"]), .isAtLeast("total", 81.5),
            .isNull("client_id"), .has("tags", "new"), .starts("client.last_name", "walk"))
        #expect(
            try await target(query)
                == #"/v1/orders?notes.eq=Yes, please&status.in=ready,"a,b"&total.gte=81.5&client_id.null=true&tags.has=new&client.last_name.starts=walk"#
        )
    }

    @Test("a second comparison of one name, and what parameters cannot say, stands in parentheses")
    func groups() async throws {
        let query = RecordQuery(
            where: .isLess("total", 5), .isLess("total", 4), .isLess("name", "a,b"),
            .any([.equals("status", "ready"), .not(.all([.isNull("x"), .not(.isOneOf("y", [1, 2]))]))]))
        #expect(
            try await target(query)
                == #"/v1/orders?total.lt=5&and=(total.lt.4,name.lt."a,b",or(status.eq.ready,not.and(x.null.true,y.not.in.(1,2))))"#
        )
    }

    @Test("no text can be taken for syntax")
    func quotes() async throws {
        let query = RecordQuery(where: .any([.equals("client.in", #"a"b\c)"#), .equals("x", "")]))
        #expect(try await target(query) == #"/v1/orders?and=(or(client."in".eq."a\"b\\c)",x.eq.""))"#)
    }

    @Test("nor can a quote with a combining mark after it, with which it is one character")
    func combinedQuote() async throws {
        let sent = try await target(RecordQuery(where: .isOneOf("x", ["a\"\u{301}", "b"])))
        #expect(Array(sent.utf8) == Array("/v1/orders?x.in=\"a\\\"\u{301}\",b".utf8))
    }

    @Test("everything else of a list is a parameter, too")
    func others() async throws {
        var query = RecordQuery().searching("ada smi").sorted(by: "-total", "id").selecting("id", "total")
            .including("client", "devices").limited(to: 7).counted().labelled()
        query.state = .pending
        query.raw = [QueryItem("_new", "1")]
        #expect(
            try await target(query)
                == "/v1/orders?q=ada smi&sync=pending&sort=-total,id&fields=id,total&include=client,devices&labels=true&count=true&limit=7&_new=1"
        )
    }

    @Test("times are sent in UTC, and their plus signs and colons are encoded")
    func times() async throws {
        let script = Script(.json(#"{"data":[],"next":null}"#))
        let time = FilterValue(Date(timeIntervalSince1970: 1_795_257_720.25))
        _ = try await script.client.records("orders").page(RecordQuery(where: .isGreater("created_at", time)))
        #expect(await script.requests.first?.target == "/v1/orders?created_at.gt=2026-11-21T10%3A42%3A00.250Z")
    }
}
