import CacheStore
import JSONText
import Testing

@Suite("Entity tags and conditions")
struct ConditionTests {
    private static let unknown = "\"0000000000000000-0000000000000000\""

    @Test(
        "a caller that has the version already gets 304 without a body",
        arguments: ["/v1/orders/a", "/v1/orders?limit=1", "/v1/orders/a/messages", "/v1/orders/a?include=messages"])
    func notModified(_ path: String) async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", path).header("ETag"))
        for condition in [tag, "W/\(tag)", "\"x\", \(tag)", "*", "\"a,b\" ,W/\"c\",\(tag)"] {
            for method in ["GET", "HEAD"] {
                let answer = await api.call(method, path, headers: ["If-None-Match": condition])
                #expect(answer.status == 304, "\(condition)")
                #expect(answer.text.isEmpty)
                #expect(answer.header("ETag") == tag)
            }
        }
        for condition in [Self.unknown, "\"\"", "", "nonsense", "\"open"] {
            #expect(await api.call("GET", path, headers: ["If-None-Match": condition]).status == 200, "\(condition)")
        }
    }

    @Test("every visible change changes the tag")
    func changes() async throws {
        let api = try await TestAPI.filled()
        let tag = await api.call("GET", "/v1/orders/a").header("ETag")
        let list = await api.call("GET", "/v1/orders").header("ETag")
        let patched = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#).header("ETag")
        let now = await api.call("GET", "/v1/orders/a").header("ETag")
        #expect(now != tag)
        #expect(now == patched)
        #expect(await api.call("GET", "/v1/orders").header("ETag") != list)
    }

    @Test("a change of an older version gets 412 and changes nothing")
    func ifMatch() async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        let body = #"{"status":"open"}"#
        #expect(await api.call("PATCH", "/v1/orders/a", body: body, headers: ["If-Match": tag]).status == 200)
        let again = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"ready"}"#, headers: ["If-Match": tag])
        #expect(again.status == 412)
        #expect(again.header("Content-Type") == "application/problem+json")
        #expect(await api.call("GET", "/v1/orders/a").json["status"]?.string == "open")
    }

    @Test("sending a change does not change the version of the record")
    func sending() async throws {
        let api = try await TestAPI.filled()
        let first = await api.call("PATCH", "/v1/orders/a", body: #"{"total":1}"#)
        let tag = try #require(first.header("ETag"))
        let change = try #require(try api.store.readyChanges(limit: 1, at: TestAPI.now).first)
        #expect(try await api.store.begin(change, at: TestAPI.now))
        let moved = await api.call("GET", "/v1/orders/a")
        #expect(moved.json.at(path: "_sync.state")?.string == "uploading")
        #expect(moved.header("ETag") != tag)
        #expect(
            await api.call("PATCH", "/v1/orders/a", body: #"{"total":2}"#, headers: ["If-Match": tag]).status == 200)
    }

    @Test("If-Match accepts a star and lists but no weak tag, and a malformed one is refused")
    func forms() async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", "/v1/orders/a?include=messages").header("ETag"))
        func patch(_ condition: String) async -> Int {
            await api.call("PATCH", "/v1/orders/a", body: #"{"status":"ready"}"#, headers: ["If-Match": condition])
                .status
        }
        #expect(await patch("*") == 200)
        #expect(await patch("\(Self.unknown), \(tag)") == 200)
        #expect(await patch("W/\(tag)") == 412)
        #expect(await patch("\"x\"") == 412)
        #expect(await patch("x") == 400)
        #expect(await patch("") == 400)
        let missing = await api.call("PATCH", "/v1/orders/zz", body: "{}", headers: ["If-Match": "*"])
        #expect(missing.status == 404)
    }

    @Test("of many writers with the same version one wins")
    func race() async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", "/v1/orders/b").header("ETag"))
        let statuses = await withTaskGroup(of: Int.self) { group in
            for number in 1...20 {
                group.addTask {
                    await api.call(
                        "PATCH", "/v1/orders/b", body: #"{"total":\#(number)}"#, headers: ["If-Match": tag]
                    ).status
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 200 }.count == 1)
        #expect(statuses.filter { $0 == 412 }.count == 19)
    }
}
