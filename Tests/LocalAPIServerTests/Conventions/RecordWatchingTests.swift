import CacheStore
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("Waiting for another version of a record", .serialized)
struct RecordWatchingTests {
    /// Calls for order `a` with its present tag.
    private func wait(_ api: TestAPI, seconds: Int = 30, query: String = "") async throws -> TestAPI.Answer {
        let tag = try #require(await api.call("GET", "/v1/orders/a\(query)").header("ETag"))
        return await api.call(
            "GET", "/v1/orders/a\(query)", headers: ["If-None-Match": tag, "Prefer": "wait=\(seconds)"])
    }

    /// Returns once a caller waits.
    private func waiter(_ api: TestAPI) async { while api.store.signal.waiterCount == 0 { await Task.yield() } }

    @Test("the answer comes as soon as the record's ETag differs", .timeLimit(.minutes(10)))
    func change() async throws {
        let api = try await TestAPI.filled()
        async let answer = wait(api)
        await waiter(api)
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        #expect(try await answer.status == 200)
        #expect(try await answer.json["status"]?.string == "open")
        #expect(try await answer.header("Preference-Applied") == "wait=30")
    }

    @Test("a change of another record does not end the wait, and 304 comes after the time", .timeLimit(.minutes(10)))
    func elapsed() async throws {
        let api = try await TestAPI.filled()
        async let answer = wait(api, seconds: 1)
        await waiter(api)
        _ = await api.call("PATCH", "/v1/orders/b", body: #"{"status":"ready"}"#)
        #expect(try await answer.status == 304)
        #expect(try await answer.header("ETag") != nil)
        #expect(try await answer.header("Preference-Applied") == "wait=1")
    }

    @Test("the longer the reading for all callers takes, the longer each lets commits pass, up to a second")
    func pauses() {
        #expect(Handlers.pause(after: .microseconds(50), callers: 2) == .microseconds(200))
        #expect(Handlers.pause(after: .milliseconds(5), callers: 60) == .milliseconds(600))
        #expect(Handlers.pause(after: .milliseconds(50), callers: 64) == .seconds(1))
    }

    @Test("a caller without the present version does not wait", .timeLimit(.minutes(10)))
    func other() async throws {
        let api = try await TestAPI.filled()
        let headers = ["If-None-Match": "\"0000000000000000-0000000000000000\"", "Prefer": "wait=60"]
        #expect(await api.call("GET", "/v1/orders/a", headers: headers).status == 200)
        #expect(await api.call("GET", "/v1/orders/a", headers: ["Prefer": "wait=60"]).status == 200)
    }

    @Test("a record that is deleted while a caller waits gets 404", .timeLimit(.minutes(10)))
    func deleted() async throws {
        let api = try TestAPI(deletes: true)
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","status":"ready"}]"#), at: TestAPI.now)
        async let answer = wait(api)
        await waiter(api)
        _ = await api.call("DELETE", "/v1/orders/a")
        #expect(try await answer.status == 404)
    }

    @Test("a change of an included record ends the wait", .timeLimit(.minutes(10)))
    func included() async throws {
        let api = try await TestAPI.filled()
        async let answer = wait(api, query: "?include=messages")
        await waiter(api)
        _ = await api.call("POST", "/v1/orders/a/messages", body: #"{"text":"hello"}"#)
        #expect(try await answer.json.at(path: "_include.messages")?.elements.count == 1)
    }

    @Test("the end of the server ends the wait with 304", .timeLimit(.minutes(10)))
    func stop() async throws {
        let api = try await TestAPI.filled()
        async let answer = wait(api)
        await waiter(api)
        api.store.signal.close()
        #expect(try await answer.status == 304)
    }

    @Test("only so many callers wait at once; the next gets 503 with Retry-After", .timeLimit(.minutes(10)))
    func limit() async throws {
        let api = try TestAPI(places: 1)
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","status":"ready"}]"#), at: TestAPI.now)
        async let first = wait(api)
        await waiter(api)
        let second = try await wait(api)
        #expect(second.status == 503 && second.header("Retry-After") != nil)
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        #expect(try await first.status == 200)
        // Its place is free again.
        async let third = wait(api, seconds: 1)
        #expect(try await third.status == 304)
    }
}
