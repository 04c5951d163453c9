import JSONText
import LocalAPI
import Testing

@testable import LocalAPIServer

@Suite("Errors for programs")
struct ProblemTests {
    private func errors(_ answer: TestAPI.Answer) -> [String] {
        (answer.json["errors"]?.elements ?? []).map { error in
            ["code", "in", "pointer"].map { error[$0]?.string ?? "-" }.joined(separator: " ")
        }
    }

    @Test("every error has a code, the page that explains it, and the status of the answer")
    func codes() async throws {
        let api = try await TestAPI.filled()
        for (method, path, body, code) in [
            ("GET", "/nothing", "", "no_such_address"), ("GET", "/v1/order", "", "unknown_entity"),
            ("POST", "/v1/conflicts/1/Resolve", "", "no_such_address"), ("GET", "/v1/_batches", "", "no_such_address"),
            ("DELETE", "/v1/orders/a", "", "method_not_allowed"), ("PATCH", "/v1/orders/a", "{", "malformed_json"),
            ("PATCH", "/v1/orders/a", "[]", "invalid_body"), ("GET", "/v1/search", "", "missing_parameter"),
            ("GET", "/v1/orders?limit=0", "", "invalid_parameter"),
            ("GET", "/v1/pending?count=true", "", "unknown_parameter"),
            ("GET", "/v1/orders?page=2", "", "unknown_parameter"),
            ("GET", "/v1/orders?x.gte=2", "", "unknown_parameter"),
            ("GET", "/v1/orders?limit=1&limit=2", "", "repeated_parameter"),
            ("GET", "/v1/changes?since=1&epoch=x", "", "gone"), ("GET", "/v1/orders/a?x=%zz", "", "malformed_query"),
            ("POST", "/v1/orders", #"{"id":"a"}"#, "conflict"), ("GET", "/v1/pending/7", "", "not_found"),
            ("POST", "/v1/conflicts/1/resolve", "{}", "invalid_body"),
        ] {
            let answer = await api.call(method, path, body: body)
            #expect(answer.json["code"]?.string == code, "\(method) \(path): \(answer.text)")
            #expect(ProblemCode(rawValue: code)?.status == answer.status, "\(method) \(path)")
            #expect(answer.json["type"]?.string?.hasSuffix("errors.md#\(code)") == true, "\(method) \(path)")
        }
        let unknown = await api.call("GET", "/v1/orders", headers: ["Authorization": nil])
        #expect(unknown.json["code"] == "token_required")
    }

    @Test("all mistakes of a query are reported at once, each with its place")
    func query() async throws {
        let api = try await TestAPI.filled()
        let list = await api.call(
            "GET", "/v1/orders?limit=0&count=perhaps&sync=lost&total.like=1")
        #expect(list.status == 400)
        #expect(
            errors(list) == ["limit", "count", "sync", "total.like"].map { "invalid_parameter query \($0)" })
        let filters = await api.call("GET", "/v1/orders?total=much&created_at.gte=soon&colour=red&sort=x&fields=y")
        #expect(filters.status == 400)
        #expect(
            Set(errors(filters))
                == Set(["total", "created_at", "sort", "fields"].map { "invalid_parameter query \($0)" })
                .union(["unknown_parameter query colour"]))
        let strays = await api.call("GET", "/v1/orders/a?x=1&y=2")
        #expect(errors(strays) == ["unknown_parameter query x", "unknown_parameter query y"])
    }

    @Test("the detail names the part of each mistake, once")
    func detail() async throws {
        let api = try await TestAPI.filled()
        let list = await api.call("GET", "/v1/orders?limit=0&count=maybe&status=lost")
        #expect(
            list.json["detail"]?.string
                == "limit: expected a whole number from 1 to 1000; count: expected true or false, got maybe; "
                + "status has no value lost. It has open, ready")
        let body = await api.call("POST", "/v1/sync", body: #"{"full":1}"#)
        #expect(body.json["detail"] == "full: expected true or false")
        let key = await api.call("POST", "/v1/orders", body: "{}", headers: ["Idempotency-Key": "a,b"])
        #expect(key.json["detail"]?.string?.hasPrefix("Idempotency-Key: expected") == true)
    }

    @Test("all mistakes of a body are reported at once, with JSON pointers")
    func body() async throws {
        let answer = try await TestAPI.filled().call(
            "PATCH", "/v1/orders/a", body: #"{"status":"lost","a/b~c":1,"total":"much"}"#)
        #expect(answer.status == 422 && answer.json["code"] == "invalid_fields")
        #expect(
            errors(answer) == [
                "unknown_value body /status", "unknown_field body /a~1b~0c", "wrong_type body /total",
            ])
    }

    @Test("a mistake in a header field names the field")
    func header() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(
            "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["If-Match": "nonsense"])
        #expect(answer.status == 400 && errors(answer) == ["invalid_header header If-Match"])
    }

    @Test("a client gets the code and the document")
    func client() async throws {
        let api = try await TestAPI.filled()
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            let answer = await api.call(request.method, request.target)
            return LocalAPIResponse(status: answer.status, body: Array(answer.text.utf8))
        }
        await #expect {
            _ = try await client.get("/v1/orders/n?refresh=false")
        } throws: { error in
            guard case .problem(let problem)? = error as? LocalAPIError else { return false }
            return problem.code == "not_cached" && problem.document["code"] == "not_cached"
        }
    }
}
