import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("Search over the API")
struct SearchTests {
    private func filled() async throws -> TestAPI {
        let api = try await TestAPI.filled()
        let messages = #"""
            [{"id":"m","order_id":"a","text":"Zoë called","number":"+44 7700 900-123"},
             {"id":"n","order_id":"b","text":"\"quoted\" <b>zoe</b>"}]
            """#
        _ = try await api.store.apply(PulledPage(entity: "messages", records: messages), at: TestAPI.now)
        return api
    }

    @Test("a search shows what it found, where, and with the match marked")
    func search() async throws {
        let answer = try await filled().call("GET", "/v1/search?q=zo")
        #expect(answer.status == 200)
        #expect(
            answer.json.text == #"""
                {"data":[{"entity":"messages","id":"n","title":"n","snippet":"\"quoted\" <b>«zoe»</b>"},\#
                {"entity":"messages","id":"m","title":"m","snippet":"«Zoë» called"}],"complete":true}
                """#)
    }

    @Test("a search can be limited to entities and to a number of hits")
    func parameters() async throws {
        let api = try await filled()
        #expect(await api.call("GET", "/v1/search?q=zoe&limit=1").json["data"]?.elements.count == 1)
        #expect(await api.call("GET", "/v1/search?q=900123&entity=messages").json["data"]?.elements.count == 1)
        #expect(await api.call("GET", "/v1/search?q=zoe&entity=nope").status == 404)
        #expect(await api.call("POST", "/v1/search", body: "{}").status == 405)
    }

    @Test("an entity named twice is searched once")
    func namedTwice() async throws {
        let api = try await filled()
        let once = await api.call("GET", "/v1/search?q=zoe&entity=messages")
        let twice = await api.call("GET", "/v1/search?q=zoe&entity=messages,messages")
        #expect(twice.status == 200)
        #expect(twice.text == once.text)
    }

    @Test("a list accepts q together with filters")
    func list() async throws {
        let api = try await filled()
        let both = await api.call("GET", "/v1/messages?q=zoe&count=true")
        #expect(both.json["total"]?.integer == 2)
        let one = await api.call("GET", "/v1/messages?q=zoe&order_id=a")
        #expect(one.json["data"]?.elements.map { $0["id"]?.string } == ["m"])
        let related = await api.call("GET", "/v1/orders/b/messages?q=zoe")
        #expect(related.json["data"]?.elements.map { $0["id"]?.string } == ["n"])
    }

    @Test(
        "an invalid search gets 400 with an explanation",
        arguments: [
            "/v1/search", "/v1/search?q=", "/v1/search?q=a", "/v1/search?q=***", "/v1/search?q=%F0%9F%98%80",
            "/v1/search?q=a%00b", "/v1/search?q=ab&limit=0", "/v1/search?q=ab&x=1", "/v1/search?q=ab&entity=orders",
            "/v1/search?q=" + String(repeating: "long+", count: 2000), "/v1/messages?q=a", "/v1/orders?q=ready",
        ])
    func refused(_ target: String) async throws {
        let answer = try await filled().call("GET", target)
        #expect(answer.status == 400)
        #expect(answer.header("Content-Type") == "application/problem+json")
        #expect(answer.json["detail"]?.string?.isEmpty == false)
    }

    @Test(
        "no search syntax causes a server error",
        arguments: [
            "%22", "zoe%22", "zoe*", "NEAR(zoe+called)", "text:zoe", "zoe+OR", "-zoe", "%5Ezoe", "(((zoe",
            "zoe%F0%9F%98%80",
        ])
    func hostile(_ text: String) async throws {
        let api = try await filled()
        for path in ["/v1/search", "/v1/messages"] {
            #expect([200, 400].contains(await api.call("GET", "\(path)?q=\(text)").status))
        }
    }
}
