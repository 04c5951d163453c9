import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("An edit that is made while another one of the record is sent, in a field that the record then shows changed")
struct WaitingEditTests {
    private static let notes = "      notes: { type: string }"
    private static let yaml = TestEngine.shop.replacing(notes, with: "\(notes)\n      text: { type: string }")

    private func orders(_ notes: String, _ text: String, after delay: Duration, _ test: TestEngine) -> String {
        let time = test.clock.timestamp + delay
        return #"[{"id":"a","notes":"\#(notes)","text":"\#(text)","updated_at":"\#(time.description)"}]"#
    }

    /// The text of the record once the edit of its notes has ended, which it shows when it is read.
    private func ended(isRefused: Bool) async throws -> (JSONText?, pending: Int) {
        let test = try TestEngine(schema: Self.yaml)
        let before = orders("n", "t", after: .seconds(-60), test)
        let after = orders("done", "other", after: .seconds(60), test)
        try test.upstream.set("/orders", before)
        _ = try await test.store.apply(PulledPage(entity: "orders", records: before), at: test.clock.timestamp)
        try await test.store.setSetting("single:orders", to: "served")
        test.upstream.answerEmpty(times: 1)
        if isRefused { test.upstream.refuse { _ in .refused(status: 400, "it is done") } }
        test.upstream.onPush { try? await test.change("a", #"{"text":"mine"}"#) }
        test.upstream.onRecord { [upstream = test.upstream] in try? upstream.set("/orders", after) }
        try await test.change("a", #"{"notes":"done"}"#)
        try await test.send()
        #expect(test.upstream.pushes.count == 1 && test.upstream.recordRequests == 1)
        return (try test.record("a")?["text"], try test.store.pendingCount().pending)
    }

    @Test("it wins over what came with that one, also where the record was read because the answer was empty")
    func accepted() async throws {
        let (text, pending) = try await ended(isRefused: false)
        #expect(text == "mine" && pending == 1)
    }

    @Test("it loses to what others wrote later, if that one was refused because they had done the same")
    func refused() async throws {
        let (text, pending) = try await ended(isRefused: true)
        #expect(text == "other" && pending == 0)
    }
}
