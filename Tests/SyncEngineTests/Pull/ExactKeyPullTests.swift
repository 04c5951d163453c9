import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Two keys that look the same in other bytes are those of two records.
@Suite("Pulls of keys that look the same")
struct ExactKeyPullTests {
    private let composed = "caf\u{E9}"
    private let apart = "cafe\u{301}"

    private func page(_ keys: [String]) -> String {
        JSONText.array(keys.map { .object(["id": .string($0), "updated_at": "2026-01-01"]) }).text
    }

    @Test("a record for which the upstream answers the other one was merged into that")
    func merged() async throws {
        let test = try TestPull()
        let others = (0..<6).map { "k\($0)" }
        try test.upstream.serve([page(others + [composed, apart])], total: 8)
        test.upstream.serveSingles { _, key in .success(#"{"id":"\#(key)"}"#) }
        try await test.pull()
        #expect(try test.store.rowCounts()["orders"] == 8)
        try test.upstream.serve([page(others + [apart])], total: 7)
        let (composed, apart) = (composed, apart)
        test.upstream.serveSingles { _, key in
            .success(#"{"id":"\#(key.exact == composed.exact ? apart : key)"}"#)
        }
        test.clock.advance(by: .seconds(1))
        #expect(try await test.pull(full: true).held == 1)
        test.clock.advance(by: .seconds(61))
        #expect(try await test.pull(full: true).deleted == 1)
        #expect(try test.remote(composed) == nil && test.remote(apart) != nil)
    }

    @Test(
        "a list with both children is complete, so that one that it lacks later is deleted", arguments: [true, false])
    func children(_ isComposedLeft: Bool) async throws {
        let test = try TestPull(
            #"detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at }"#)
        let orders = try JSONText(parsing: page(["a"]))
        func serve(_ messages: [String]) throws {
            let messages = try JSONText(parsing: page(messages))
            test.upstream.answering { request in
                let records = request.path == "/orders" ? orders : messages
                return .success(Page(records: records, count: records.elements.count))
            }
        }
        try serve(["m", composed, apart])
        try await test.pull()
        try await test.pullDetails()
        #expect(try test.store.rowCounts()["messages"] == 3)
        let (left, gone) = isComposedLeft ? (composed, apart) : (apart, composed)
        try serve([composed, apart])
        try await test.pullDetails(all: true)
        #expect(try test.store.rowCounts()["messages"] == 2)
        try serve([left])
        try await test.pullDetails(all: true)
        #expect(try test.store.remote(of: "messages", key: gone) == nil)
        #expect(try test.store.remote(of: "messages", key: left) != nil)
    }
}
