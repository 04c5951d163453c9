import JSONText
import Testing

@Suite("Values of parameters")
struct ParameterValueTests {
    @Test(
        "a boolean is true or false, and another spelling is refused with a suggestion",
        arguments: [
            ("count", "1", "true"), ("count", "yes", "true"), ("labels", "TRUE", "true"), ("count", "0", "false"),
            ("labels", "", "true"), ("status.null", "1", "true"), ("status.null", "False", "false"),
        ])
    func booleans(_ name: String, _ value: String, _ meant: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/v1/orders?\(name)=\(value)")
        #expect(answer.status == 400)
        #expect(answer.json["detail"]?.string?.contains("did you mean \(meant)?") == true, "\(answer.text)")
        #expect(await api.call("GET", "/v1/orders?\(name)=\(meant)").status == 200)
    }

    @Test("all mistakes of a list are reported at once, whichever part of the request finds them")
    func together() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(
            "GET", "/v1/orders?limit=0&colour=red&sort=size&status=lost&include=owner&count=2&fields=weight")
        #expect(answer.status == 400)
        let pointers = answer.json["errors"]?.elements.compactMap { $0["pointer"]?.string } ?? []
        #expect(pointers.sorted() == ["colour", "count", "fields", "include", "limit", "sort", "status"])
    }

    @Test("a boolean that could mean anything is refused without a suggestion")
    func nonsense() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/v1/orders?count=maybe")
        #expect(answer.json["detail"]?.string == "count: expected true or false, got maybe")
    }

    @Test("a filter on a boolean field takes true and false alone")
    func filter() async throws {
        let api = try TestAPI(field: "urgent: { type: boolean }")
        #expect(await api.call("GET", "/v1/orders?urgent=true").status == 200)
        let answer = await api.call("GET", "/v1/orders?urgent=1")
        #expect(answer.status == 400 && answer.json["detail"]?.string?.contains("did you mean true?") == true)
    }

    @Test("a + that should have been %2B is explained where it makes the value invalid")
    func plus() async throws {
        let api = try await TestAPI.filled()
        for query in ["created_at.gte=2026-01-01T00:00:00+02:00", "total=+5", "limit=+5&total.gte=+x"] {
            let answer = await api.call("GET", "/v1/orders?\(query)")
            #expect(answer.status == 400)
            #expect(answer.json["detail"]?.string?.hasSuffix("send %2B for a plus") == true, "\(answer.text)")
            #expect(answer.json["errors"]?.elements.contains { $0["message"]?.string?.contains("%2B") == true } == true)
        }
        #expect(await api.call("GET", "/v1/orders?created_at.gte=2026-01-01T00:00:00%2B02:00").status == 200)
        #expect(await api.call("GET", "/v1/messages?number=+44+7700").status == 200)
    }

    @Test("another mistake of the same query is not blamed on the +")
    func unrelated() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/v1/messages?text=a+b&limit=x")
        #expect(answer.status == 400 && !answer.text.contains("%2B"))
    }

    @Test(
        "a plain filter that is there twice is refused, because no record could meet both",
        arguments: ["orders?status=open&status=ready", "pending?state=failed&state=queued", "orders?total=1&total=1"])
    func repeatedFilter(_ query: String) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/\(query)")
        #expect(answer.status == 400 && answer.json["code"] == "repeated_parameter", "\(answer.text)")
        #expect(answer.json["errors"]?.elements.count == 1)
    }

    @Test(
        "a comparison that is named, or a condition in parentheses, can be there twice",
        arguments: ["total.gte=1&total.gte=2", "status.ne=open&status.ne=ready", "or=(id.eq.a)&or=(total.gte.1)"])
    func repeatedComparison(_ query: String) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/orders?\(query)")
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test(
        "an empty name is refused, wherever names are listed",
        arguments: [
            ("orders?fields=", "fields"), ("orders?fields=status,", "fields"), ("orders?sort=", "sort"),
            ("orders?sort=-total,", "sort"), ("orders?include=", "include"), ("orders/a?fields=", "fields"),
            ("orders/a?include=messages,", "include"), ("search?q=ada&entity=", "entity"), ("pending?sort=", "sort"),
        ])
    func emptyName(_ query: String, _ parameter: String) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/\(query)")
        #expect(
            answer.status == 400 && answer.json.at(path: "errors.*.pointer")?.elements.first?.string == parameter,
            "\(answer.text)")
        #expect(answer.json["detail"]?.string?.contains("empty") == true, "\(answer.text)")
    }

    @Test(
        "an empty value is answered with those there are",
        arguments: [
            ("orders?sync=", "synced, pending"), ("reminders?state=due,", "scheduled, due"),
            ("changes?kind=", "upserted, deleted"),
        ])
    func emptyChoice(_ query: String, _ values: String) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/\(query)")
        let detail = try #require(answer.json["detail"]?.string)
        #expect(answer.status == 400 && detail.contains("expected one of \(values)"), "\(detail)")
        #expect(detail.hasSuffix(", got nothing"), "\(detail)")
    }

    @Test(
        "a value that is none of those there are is refused with a suggestion",
        arguments: [("reminders?state=Due", "due"), ("changes?kind=upsert", "upserted")])
    func choices(_ query: String, _ meant: String) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/\(query)")
        #expect(answer.status == 400)
        #expect(answer.json["detail"]?.string?.contains("did you mean \(meant)? Use any of") == true, "\(answer.text)")
    }

    @Test("a relation to one record is included as an object, one to many as a list")
    func inclusion() async throws {
        let api = try await TestAPI.filled()
        let made = await api.call("POST", "/v1/orders/a/messages", body: #"{"text":"hello"}"#)
        let id = try #require(made.json["id"]?.string)
        let one = await api.call("GET", "/v1/messages/\(id)?include=order").json.at(path: "_include.order")
        #expect(one?.kind == .object && one?["id"]?.string == "a")
        let many = await api.call("GET", "/v1/orders/a?include=messages").json.at(path: "_include.messages")
        #expect(many?.kind == .array)
    }
}
