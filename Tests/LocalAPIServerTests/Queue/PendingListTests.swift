import JSONText
import Testing

@Suite("The queue as a list over HTTP")
struct PendingListTests {
    private func filled() async throws -> TestAPI {
        let api = try await TestAPI.filled()
        for number in 0..<5 {
            let body = #"{"id":"o\#(number)","total":\#(number)}"#
            #expect(await api.call("POST", "/v1/orders", body: body).status == 201)
        }
        let message = #"{"order_id":"a","text":"hello"}"#
        #expect(await api.call("POST", "/v1/messages", body: message).status == 201)
        return api
    }

    private func ids(_ answer: TestAPI.Answer) -> [Int] {
        answer.json["data"]?.elements.compactMap { $0["id"]?.integer } ?? []
    }

    @Test(
        "changes are filtered and sorted",
        arguments: [
            ("", [1, 2, 3, 4, 5, 6]), ("?sort=-id", [6, 5, 4, 3, 2, 1]), ("?entity=messages", [6]),
            ("?entity=messages,orders&limit=2", [1, 2]), ("?state=queued&record=o2", [3]), ("?record=o2", [3]),
            ("?state=failed,waiting", []), ("?retry_count=0&entity=messages", [6]), ("?retry_count.gte=1", []),
            ("?retry_count.lt=1&retry_count.gte=0&sort=-created_at,-id&limit=2", [6, 5]),
        ])
    func filters(_ query: String, _ expected: [Int]) async throws {
        let answer = try await filled().call("GET", "/v1/pending\(query)")
        #expect(answer.status == 200)
        #expect(ids(answer) == expected)
    }

    @Test(
        "what reads all of a table is read on the threads for long reads, and not for a caller that has gone",
        arguments: [
            "/v1/pending", "/v1/pending?entity=orders", "/metrics", "/v1/orders/a/history", "/v1/conflicts?open=true",
            "/v1/reminders",
        ])
    func away(_ target: String) async throws {
        let api = try await filled()
        #expect(await api.call("GET", target).status == 200)
        let gone = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await api.call("GET", target).status
        }
        #expect(await gone.value == 503)
    }

    @Test(
        "the count is text for callers that prefer it",
        arguments: [
            ("text/plain", true), ("text/plain;q=0.5, application/json;q=0.1", true), ("TEXT/PLAIN", true),
            ("application/json, text/plain;q=0.5", false), ("text/plain;q=0", false), ("text/*", false), ("*/*", false),
        ])
    func countAsText(_ accept: String, _ isText: Bool) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/pending/count", headers: ["Accept": accept])
        #expect(answer.text == (isText ? "0\n" : #"{"pending":0,"failed":0}"#))
    }

    @Test("pages follow one another by their cursor, which no other list takes")
    func pages() async throws {
        let api = try await filled()
        var path = "/v1/pending?entity=orders&sort=-id&limit=2"
        var found: [Int] = []
        while true {
            let answer = await api.call("GET", path)
            found += ids(answer)
            guard let next = answer.json["next"]?.string else { break }
            path = "/v1/pending?entity=orders&sort=-id&limit=2&cursor=\(next)"
            for other in [
                "entity=orders", "sort=-id", "entity=messages&sort=-id", "entity=orders&sort=-id&state=queued",
            ] {
                let refused = await api.call("GET", "/v1/pending?\(other)&cursor=\(next)")
                #expect(refused.status == 400)
                #expect(refused.json["errors"]?.elements.first?["field"] == "cursor")
            }
        }
        #expect(found == [5, 4, 3, 2, 1])
    }

    @Test(
        "what it does not take is refused with what it takes",
        arguments: [
            ("colour=red", "colour", "no parameter colour. It takes entity, state, record"),
            ("stat=failed", "stat", "did you mean state?"), ("entity=order", "entity", "did you mean orders?"),
            ("entity=", "entity", "one of orders, messages, got nothing"),
            ("state=faild", "state", "did you mean failed?"),
            ("state=failed,", "state", "expected one of queued, uploading, waiting, blocked, failed, got nothing"),
            ("state=lost", "state", "Use any of queued, uploading, waiting, blocked, failed"),
            ("state.ne=failed", "state", "use state="), ("sort=retries", "sort", "there is no column retries"),
            ("sort=-creatd_at", "sort", "did you mean created_at?"), ("sort=id,-id", "sort", "twice"),
            ("retry_count=many", "retry_count", "whole number"), ("retry_count.gte=-1", "retry_count", "whole number"),
            ("retry_count.null=true", "retry_count.null", "never null"),
            ("record=a&record=b", "record", "more than once"),
            ("record.ne=a", "record.ne", "did you mean record?"),
            ("limit=0", "limit", "from 1 to 1000"), ("cursor=7", "cursor", "no cursor"),
            ("cursor=", "cursor", "expected next of an earlier page"),
        ])
    func refusals(_ query: String, _ field: String, _ message: String) async throws {
        let answer = try await filled().call("GET", "/v1/pending?\(query)")
        #expect(answer.status == 400)
        #expect(answer.json["errors"]?.elements.first?["field"]?.string == field)
        #expect(answer.json["detail"]?.string?.contains(message) == true, "\(answer.text)")
    }
}
