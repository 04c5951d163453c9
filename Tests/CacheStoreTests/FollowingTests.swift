import EntitySchema
import JSONText
import Testing

@testable import CacheStore

@Suite("States that follow the queue")
struct FollowingTests {
    private let now = TestCache.now

    private func cache() async throws -> (TestCache, line: String) {
        let cache = try TestCache(schema: Home.schema)
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        return (cache, try await cache.make("lines", #"{"talk_id":"t","text":"hello"}"#))
    }

    private func states(_ state: String, _ cache: TestCache) throws -> [String] {
        try cache.keys(
            ListQuery(entity: "lines", filters: [ListQuery.Filter(field: "state", comparison: .equal, values: [state])])
        )
    }

    @Test("pending while queued or retried, failed when the change fails permanently, pending again on retry")
    func untilAcknowledged() async throws {
        let (cache, line) = try await cache()
        #expect(try cache.values("lines", line, "state") == [#""pending""#])
        let failure = PushFailure(kind: "server", status: 500, message: "oops")
        try await cache.send(.waiting(failure, at: now, counted: true))
        #expect(try cache.values("lines", line, "state") == [#""pending""#])
        try await cache.send(.failed(failure))
        #expect(try states("failed", cache) == [line])
        #expect(try cache.values("talks", "t", "failed_count") == ["1"])
        #expect(try await cache.store.retry(nil, at: now) == 1)
        #expect(try states("pending", cache) == [line])
        #expect(try cache.values("talks", "t", "failed_count") == ["0"])
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"\#(line)","talk_id":"t"}"#)))
        #expect(try states("sent", cache) == [line])
    }

    @Test("after the acknowledgement only the server moves the state, and never backwards")
    func afterThat() async throws {
        let (cache, line) = try await cache()
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"\#(line)","state":"pending"}"#)))
        #expect(try cache.values("lines", line, "state") == [#""sent""#])
        for (there, here) in [("read", "read"), ("delivered", "read"), ("sent", "read"), ("failed", "read")] {
            _ = try await cache.pull("lines", #"[{"id":"\#(line)","state":"\#(there)"}]"#)
            #expect(try cache.values("lines", line, "state") == ["\"\(here)\""])
        }
        try await cache.change("lines", line, #"{"text":"bye"}"#)
        #expect(try cache.values("lines", line, "state") == [#""read""#])
        let reopened = try cache.reopened(schema: Home.schema)
        #expect(try states("read", reopened) == [line])
    }

    @Test("a pulled record has the server's state, in order, and stores nothing extra")
    func pulled() async throws {
        let (cache, _) = try await cache()
        _ = try await cache.pull("lines", #"[{"id":"a","state":"delivered"},{"id":"b"}]"#)
        #expect(
            try cache.values("lines", "a", "state") + cache.values("lines", "b", "state")
                == [#""delivered""#, #""sent""#])
        _ = try await cache.pull("lines", #"[{"id":"a","state":"sent"}]"#)
        #expect(try cache.values("lines", "a", "state") == [#""delivered""#])
    }
}

@Suite("Lists that merge as sets")
struct SetMergeTests {
    private let now = TestCache.now

    private func cache(there: String, here: String, then: String) async throws -> TestCache {
        let cache = try TestCache(schema: Home.schema)
        _ = try await cache.pull("lines", #"[{"id":"a","read_by":\#(there)}]"#)
        try await cache.change("lines", "a", #"{"read_by":\#(here)}"#)
        _ = try await cache.pull("lines", #"[{"id":"a","read_by":\#(then)}]"#)
        return cache
    }

    @Test(
        "values added on either side stay, values removed on either side go, and the result is sent",
        arguments: [
            (#"["a"]"#, #"["a","b"]"#, #"["a","c"]"#, #"["a","c","b"]"#),
            (#"["a","b"]"#, #"["b"]"#, #"["a","c"]"#, #"["c"]"#),
            ("null", "[1]", "[2,1]", "[2,1]"), (#"["a"]"#, "[]", #"["a","a"]"#, "[]"),
        ])
    func merged(_ there: String, _ here: String, _ then: String, _ merged: String) async throws {
        let cache = try await cache(there: there, here: here, then: then)
        #expect(try cache.values("lines", "a", "read_by") == [merged])
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.body["read_by"]?.text == merged)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 10).conflicts.isEmpty)
    }

    @Test("the same version again changes nothing")
    func again() async throws {
        let cache = try await cache(there: "[1]", here: "[1,2]", then: "[1,3]")
        let position = try cache.store.position()
        _ = try await cache.pull("lines", #"[{"id":"a","read_by":[1,3]}]"#)
        #expect(try cache.store.position() == position)
    }
}
