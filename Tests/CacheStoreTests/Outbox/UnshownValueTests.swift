import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Values that the upstream takes and never shows")
struct UnshownValueTests {
    private static let yaml = TestCache.shop
        .replacing("status: { type: enum,", with: "status: { type: enum, steps: true,")
        .replacing(
            "notes: { type: string }",
            with: "notes: { type: string }\n      remark: { type: string, write_only: true }")

    /// The bodies of the queued changes of an order, after these edits.
    private func queued(after edits: [String], merging: Bool = false) async throws -> [JSONText] {
        let cache = try TestCache(schema: Self.yaml)
        _ = try await cache.pull("orders", #"[{"id":"a","status":null,"notes":"n"}]"#)
        for edit in edits {
            try await cache.store.write(at: TestCache.now) {
                try $0.update("orders", key: "a", JSONText(parsing: edit), merging: merging)
            }
        }
        return try cache.store.pending(PendingQuery(limit: 9)).changes.compactMap { $0["body"] }
    }

    @Test("are sent with each step, also if they are the same each time", arguments: [false, true])
    func repeated(merging: Bool) async throws {
        let edits = [#"{"status":"open","remark":"called"}"#, #"{"status":"ready","remark":"called"}"#]
        let bodies = try await queued(after: edits, merging: merging)
        #expect(bodies.map { $0["status"] } == ["open", "ready"])
        #expect(bodies.map { $0["remark"] } == ["called", "called"])
    }

    @Test("are no change if nothing else is")
    func alone() async throws {
        let edit = #"{"status":"open","remark":"called"}"#
        #expect(try await queued(after: [edit, edit]).count == 1)
    }
}
