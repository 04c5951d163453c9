import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("The first attempt of an edit that is refused because the record has it already")
struct RefusedSameEditTests {
    private static let notes = "      notes: { type: string }"
    private static let yaml = TestEngine.shop.replacing(
        notes, with: "\(notes)\n      reason: { type: string, write_only: true }")

    /// Order "a" was edited here. The upstream has these notes by now, and refuses the edit.
    private func test(_ notes: String, edit: String) async throws -> TestEngine {
        try await test(record: #"{"id":"a","notes":"\#(notes)"}"#, edit: edit)
    }

    private func test(record: String, edit: String) async throws -> TestEngine {
        let test = try TestEngine(schema: Self.yaml)
        let known = #"[{"id":"a","notes":"n"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: known), at: test.clock.timestamp)
        try test.upstream.set("/orders", "[\(record)]")
        try await test.store.setSetting("single:orders", to: "served")
        try await test.change("a", edit)
        test.upstream.refuse { _ in .refused(status: 400, "no step from closed to closed") }
        try await test.send()
        return test
    }

    @Test("is done, with the record as the upstream has it")
    func done() async throws {
        let test = try await test("closed", edit: #"{"notes":"closed"}"#)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a")?["notes"] == "closed")
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("fails if the record has another value")
    func other() async throws {
        let test = try await test("open", edit: #"{"notes":"closed"}"#)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "refused")
    }

    @Test("fails if the record does not show the field that it sets to null")
    func unshown() async throws {
        let test = try await test(record: #"{"id":"a"}"#, edit: #"{"notes":null}"#)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "refused")
    }

    @Test("fails if the record may still be as it was before an earlier edit from here")
    func behind() async throws {
        let test = try TestEngine(schema: Self.yaml)
        let known = #"[{"id":"a","notes":"closed"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: known), at: test.clock.timestamp)
        try test.upstream.set("/orders", known)
        try await test.store.setSetting("single:orders", to: "served")
        try await test.change("a", #"{"notes":"open"}"#)
        try await test.send()
        try test.upstream.set("/orders", known)
        try await test.change("a", #"{"notes":"closed"}"#)
        test.upstream.refuse { _ in .refused(status: 400, "no step from open to closed") }
        try await test.send()
        #expect(test.upstream.pushes.count == 2)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
    }

    @Test("is done if the record has what no earlier edit from here replaced, however recent that is")
    func quickSteps() async throws {
        let test = try TestEngine(schema: Self.yaml)
        let known = #"[{"id":"a","notes":"open"}]"#
        _ = try await test.store.apply(PulledPage(entity: "orders", records: known), at: test.clock.timestamp)
        try test.upstream.set("/orders", known)
        try await test.store.setSetting("single:orders", to: "served")
        try await test.change("a", #"{"notes":"ready"}"#)
        try await test.send()
        try test.upstream.set("/orders", #"[{"id":"a","notes":"closed"}]"#)
        try await test.change("a", #"{"notes":"closed"}"#)
        test.upstream.refuse { _ in .refused(status: 400, "no step from closed to closed") }
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a")?["notes"] == "closed")
    }

    @Test("fails if it sent what the upstream never shows, which may not have arrived")
    func hidden() async throws {
        let test = try await test("closed", edit: #"{"notes":"closed","reason":"paid"}"#)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
    }
}
