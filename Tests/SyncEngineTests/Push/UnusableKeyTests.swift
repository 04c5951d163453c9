import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// A pull sets such records aside, so no answer may bring them in either.
@Suite("An answer with a key that cannot be used")
struct UnusableKeyTests {
    @Test(
        "leaves a creation to a person, who is told of it",
        arguments: [
            #""..""#, #""x\u0000y""#, #""\ud800""#, "1.5", "{}", "\"\(String(repeating: "k", count: 600))\"",
        ])
    func created(_ key: String) async throws {
        let test = try await TestEngine.with()
        let own = try await test.create()
        try test.upstream.answer(#"{"id":\#(key),"notes":"new"}"#, times: 1, applying: false)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error("class") == "unclear")
        let message = try #require(try test.error("message"))
        #expect(message.contains("cannot be used") && message.count < 200, "\(message)")
        #expect(try test.record(own)?["id"]?.string == own)
        #expect(try test.store.rowCounts()["orders"] == 2)
    }

    @Test("is not what a look-up finds, and the creation is not sent again")
    func lookedUp() async throws {
        for isLost in [false, true] {
            let test = try await TestEngine.with(TestEngine.shopWithLookUp)
            let own = try await test.create()
            try test.upstream.set("/orders", #"[{"id":"a","notes":"n"},{"id":"..","notes":"new"}]"#)
            if isLost {
                test.upstream.fail(.unclear(status: nil, "lost"))
            } else {
                try test.upstream.answer(#"{"id":"..","notes":"new"}"#, times: 1, applying: false)
            }
            for _ in 1...9 {
                try await test.send()
                test.clock.advance(by: .seconds(60))
            }
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1), "lost: \(isLost)")
            #expect(try test.error("class") == "unclear")
            #expect(test.upstream.pushes.count == 1, "lost: \(isLost)")
            #expect(try test.record(own)?["id"]?.string == own)
        }
    }

    @Test("leaves an edited record its own key")
    func edited() async throws {
        let test = try await TestEngine.with()
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.answer(#"{"id":"..","notes":"mine"}"#, times: 1, applying: false)
        test.upstream.hideRecords(true)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a")?["id"] == "a" && test.record("a")?["notes"] == "mine")
        #expect(try test.store.rowCounts()["orders"] == 1)
    }
}
