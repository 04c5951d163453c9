import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What the queue says about a creation whose outcome is not known.
@Suite("The words about a creation that may have been applied")
struct LookUpWordsTests {
    /// The message after one attempt that the upstream answered with 500, and `looks` turns of the queue after it.
    private func message(_ creation: String, looks: Int) async throws -> String {
        let yaml = TestEngine.shop.replacing("  idempotency_header: Idempotency-Key\n", with: "")
            .replacing("call: POST /orders }", with: creation)
        let test = try TestEngine(schema: yaml)
        try test.upstream.set("/orders", "[]")
        _ = try await test.create()
        test.upstream.fail(.unclear(status: 500, "the place is missing"))
        try await test.send()
        for _ in 0..<looks {
            test.clock.advance(by: .seconds(11))
            try await test.send()
        }
        return try #require(try test.error("message"))
    }

    @Test("keep what the upstream answered when it is left to a person")
    func leftToPerson() async throws {
        let message = try await message("call: POST /orders }", looks: 1)
        #expect(message.contains("the place is missing") && message.contains("the schema has no look_up"))
        #expect(!message.contains("was lost"))
    }

    @Test("keep what the upstream answered while it is looked for, and only the last reason")
    func lookedForAgain() async throws {
        let message = try await message("call: POST /orders, look_up: { match: [notes] } }", looks: 3)
        #expect(message.contains("the place is missing") && message.hasSuffix("; looking again later"))
        #expect(message.split(separator: "it is not known").count == 2)
    }
}
