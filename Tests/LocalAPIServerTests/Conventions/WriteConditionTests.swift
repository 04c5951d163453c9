import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("Conditions of writes and reads")
struct WriteConditionTests {
    private static let unknown = "\"0000000000000000-0000000000000000\""

    @Test("PUT with If-None-Match: * only creates: of two the second gets 412 and changes nothing")
    func createOnly() async throws {
        let api = try await TestAPI.filled()
        func put(_ status: String) async -> TestAPI.Answer {
            await api.call(
                "PUT", "/v1/orders/new", body: #"{"status":"\#(status)"}"#, headers: ["If-None-Match": "*"])
        }
        #expect(await put("open").status == 201)
        let second = await put("ready")
        #expect(second.status == 412 && second.json["code"]?.string == "version_mismatch")
        #expect(await api.call("GET", "/v1/orders/new").json["status"]?.string == "open")
    }

    @Test("of many callers who create the same record with If-None-Match: * one succeeds")
    func race() async throws {
        let api = try await TestAPI.filled()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 1...10 {
                group.addTask {
                    await api.call("PUT", "/v1/orders/new", body: "{}", headers: ["If-None-Match": "*"]).status
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 201 }.count == 1 && statuses.filter { $0 == 412 }.count == 9)
    }

    @Test(
        "a write with If-None-Match and the tag of the present version gets 412", arguments: ["PUT", "PATCH", "DELETE"])
    func excluded(_ method: String) async throws {
        let api = try TestAPI(deletes: true)
        let records = #"[{"id":"a","status":"ready"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        let tag = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        let body = method == "DELETE" ? "" : #"{"status":"open"}"#
        for condition in [tag, "W/\(tag)", "*", "\(Self.unknown), \(tag)"] {
            let answer = await api.call(method, "/v1/orders/a", body: body, headers: ["If-None-Match": condition])
            #expect(answer.status == 412, "\(condition)")
        }
        #expect(await api.call(method, "/v1/orders/a", body: body, headers: ["If-None-Match": "x"]).status == 400)
        let other = await api.call(method, "/v1/orders/a", body: body, headers: ["If-None-Match": Self.unknown])
        #expect(other.status == (method == "DELETE" ? 204 : 200))
    }

    @Test("DELETE with If-Match of an older version gets 412 and deletes nothing")
    func deletion() async throws {
        let api = try TestAPI(deletes: true)
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","status":"ready"}]"#), at: TestAPI.now)
        let tag = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        #expect(await api.call("DELETE", "/v1/orders/a", headers: ["If-Match": tag]).status == 412)
        let now = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        #expect(await api.call("DELETE", "/v1/orders/a", headers: ["If-Match": now]).status == 204)
    }

    @Test(
        "a read with If-Match answers only that version, else 412",
        arguments: ["/v1/orders/a", "/v1/orders", "/v1/schema"])
    func reads(_ path: String) async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", path).header("ETag"))
        #expect(await api.call("GET", path, headers: ["If-Match": tag]).status == 200)
        #expect(await api.call("GET", path, headers: ["If-Match": "*"]).status == 200)
        for condition in [Self.unknown, "W/\(tag)"] {
            #expect(await api.call("GET", path, headers: ["If-Match": condition]).status == 412, "\(condition)")
        }
        #expect(await api.call("GET", path, headers: ["If-Match": "x"]).status == 400)
        // What is not there has no version either, but that is the better answer.
        #expect(await api.call("GET", "/v1/orders/zz", headers: ["If-Match": tag]).status == 404)
    }

    @Test("If-Match comes before If-None-Match")
    func precedence() async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        let both = await api.call("GET", "/v1/orders/a", headers: ["If-Match": Self.unknown, "If-None-Match": tag])
        #expect(both.status == 412)
    }

    @Test("a condition on what has no versions is never ignored by a write")
    func versionless() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        let body = #"{"status":"ready"}"#
        #expect(await api.call("PATCH", "/v1/pending/1", body: body, headers: ["If-Match": Self.unknown]).status == 412)
        #expect(await api.call("POST", "/v1/orders", body: "{}", headers: ["If-Match": Self.unknown]).status == 412)
        #expect(await api.call("POST", "/v1/orders", body: "{}", headers: ["If-None-Match": "*"]).status == 412)
        let malformed = await api.call("DELETE", "/v1/pending/1", headers: ["If-None-Match": "0123"])
        #expect(malformed.status == 400 && malformed.json["code"] == "invalid_header")
        #expect(await api.call("PATCH", "/v1/pending/1", body: body, headers: ["If-Match": "*"]).status == 200)
    }

    @Test("an answer of 202 that shows the record has its ETag, which the next write can expect")
    func accepted() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=1", body: #"{"status":"open"}"#)
        #expect(answer.status == 202)
        let tag = try #require(answer.header("ETag"))
        let next = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"ready"}"#, headers: ["If-Match": tag])
        #expect(next.status == 200)
    }

    @Test(
        "a repeated answer has Idempotent-Replayed: true, the first has not", arguments: ["", "?wait=pushed&timeout=1"])
    func replayed(_ query: String) async throws {
        let api = try await TestAPI.filled()
        func create() async -> TestAPI.Answer {
            await api.call("POST", "/v1/orders\(query)", body: #"{"status":"open"}"#, headers: ["Idempotency-Key": "k"])
        }
        let (first, second) = (await create(), await create())
        #expect(first.header("Idempotent-Replayed") == nil && second.header("Idempotent-Replayed") == "true")
        #expect(first.status == second.status && first.json["id"] == second.json["id"])
        let plain = await api.call("POST", "/v1/orders", body: "{}")
        #expect(plain.header("Idempotent-Replayed") == nil)
    }
}
