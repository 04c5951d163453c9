import JSONText
import Testing

@testable import CacheStore

@Suite("Lists that merge as sets")
struct SetMergeTests {
    private let now = TestCache.now

    private func cache(there: String, here: String, then: String) async throws -> TestCache {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
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

    @Test(
        "an edit made after one whose answer was lost was made from that one, once the server shows it",
        arguments: [("[2]", "[3]"), ("[2,9]", "[9,3]"), ("[1]", "[3]"), ("[1,9]", "[9,3]")])
    func afterLostAnswer(_ then: String, _ merged: String) async throws {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        _ = try await cache.pull("lines", #"[{"id":"a","read_by":[1]}]"#)
        try await cache.change("lines", "a", #"{"read_by":[2]}"#)
        let first = try await cache.begun()
        let failure = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(first.id, .waiting(failure, at: now, counted: true), at: now)
        try await cache.change("lines", "a", #"{"read_by":[3]}"#)
        _ = try await cache.pull("lines", #"[{"id":"a","read_by":\#(then)}]"#)
        #expect(try cache.values("lines", "a", "read_by") == [merged])
    }

    @Test("lists of 30,000 values are merged as short ones are")
    func long() {
        let base = (0..<30_000).map { JSONText.integer($0) }
        let (here, there) = (JSONText.string("here"), JSONText.string("there"))
        let kept = Array(base.dropFirst())
        let server = Array(base.reversed()) + [there]
        let merge = SetMerge(base: base, local: kept + [here], server: server)
        #expect(merge.merged == JSONText.array(Array(kept.reversed()) + [there, here]))
        #expect(!merge.isShown)
        #expect(SetMerge(base: kept, local: base, server: server).isShown)
    }

    @Test("the same version again changes nothing")
    func again() async throws {
        let cache = try await cache(there: "[1]", here: "[1,2]", then: "[1,3]")
        let position = try cache.store.position()
        _ = try await cache.pull("lines", #"[{"id":"a","read_by":[1,3]}]"#)
        #expect(try cache.store.position() == position)
    }
}
