import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("States that follow the queue")
struct QueueFollowingTests {
    private let now = TestCache.now

    private func cache() async throws -> (TestCache, line: String) {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        return (cache, try await cache.make("lines", #"{"talk_id":"t","text":"hello"}"#))
    }

    private func states(_ state: String, _ cache: TestCache) throws -> [String] {
        try cache.keys(
            ListQuery(entity: "lines", filters: [FilterCondition(field: "state", comparison: .equal, values: [state])])
        )
    }

    @Test("pending while queued or retried, failed when the change fails permanently, pending again on retry")
    func untilAcknowledged() async throws {
        let (cache, line) = try await cache()
        #expect(try cache.values("lines", line, "state") == [#""pending""#])
        let failure = PushFailure(.server, status: 500, message: "oops")
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
        let reopened = try cache.reopened(schema: DerivedFieldSchema.yaml)
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
