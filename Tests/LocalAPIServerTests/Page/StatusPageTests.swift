import CacheStore
import JSONText
import SocketServer
import Testing

@testable import LocalAPIServer

@Suite("The status page")
struct StatusPageTests {
    @Test("it shows state, queue and entities, and is guarded like every call")
    func contents() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"total":1}"#)
        try await api.store.setAccountName("Robin")
        let page = await api.call("GET", "/")
        #expect(page.status == 200)
        #expect(page.header("Content-Type") == "text/html; charset=utf-8")
        #expect(page.text.contains("<dt>pending</dt><dd><a href=\"/v1/pending\">1</a></dd>"))
        #expect(page.text.contains("<a href=\"/v1/orders\">orders</a></th><td class=\"number\">2</td>"))
        #expect(page.text.contains("<dt>account</dt><dd>Robin</dd>"))
        #expect(await api.call("GET", "/", headers: ["Authorization": nil]).status == 401)
        #expect(await api.call("GET", "/", headers: ["Host": "evil.example"]).status == 403)
        #expect(await api.call("POST", "/").header("Allow") == "GET, HEAD, OPTIONS")
    }

    @Test("it shows only the changes with errors")
    func errors() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"x"}"#)
            #expect(try await !api.call("GET", "/").text.contains("Changes with errors"))
            try await api.attempt(ServedAPI.refusal)
            _ = try await api.call("POST", "/v1/clients", #"{"name":"c"}"#)
            let page = try await api.call("GET", "/").text
            #expect(page.contains("<a href=\"/v1/pending/1\">1</a></th><td>update orders a</td><td>failed</td>"))
            #expect(page.contains("<td>no such thing</td>"))
            #expect(!page.contains("/v1/pending/2"))
        }
    }

    @Test("it loads only its own files, and no text can become a script")
    func loads() async throws {
        let api = try await TestAPI.filled()
        let page = await api.call("GET", "/")
        let policy = try #require(page.header("Content-Security-Policy"))
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
        #expect(policy.contains("require-trusted-types-for 'script'; trusted-types 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(page.header("Cross-Origin-Opener-Policy") == "same-origin")
        #expect(page.text.ranges(of: "<script").count == 1)
        #expect(page.text.contains("<script type=\"module\" src=\"/page/main.js\"></script>"))
        #expect(!page.text.contains("style=") && !page.text.contains("<style"))
        #expect(!page.text.contains("http"))
    }

    @Test("everything it shows is escaped")
    func escaped() throws {
        let evil = "</td><script>alert('1')</script>\"&"
        let status = JSONText.object([
            "state": .string(evil), "error": .string(evil), "schema": .string(evil), "version": .string(evil),
            "last_sync_at": .string(evil), "pending": .string(evil),
            "entities": .object(members: [(evil, .object(["rows": 1, "state": .string(evil), "error": .string(evil)]))]
            ),
        ])
        let change = JSONText.object([
            "id": .string(evil), "entity": .string(evil), "error": .object(["message": .string(evil)]),
        ])
        let text = TestAPI.Answer(
            response: StatusPage(status: status, troubled: [change], title: evil, isInSession: true).response
        ).text
        #expect(text.contains("&lt;/td&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;"))
        #expect(text.ranges(of: "<script").count == 1 && !text.contains("alert('"))
    }
}
