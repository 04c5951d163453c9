import CacheStore
import EntitySchema
import Foundation
import JSONText
import Logging
import Secrets
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

/// How secrets are sent, and what errors repeat of them.
@Suite("Sending secrets")
struct SecretPushTests {
    private func test(log: Logger? = nil) async throws -> TestEngine {
        let yaml = TestEngine.shop.replacing("notes: { type: string }", with: Self.fields)
        let test = try log.map { try TestEngine(schema: yaml, log: $0) } ?? TestEngine(schema: yaml)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","pin":"OLD-PIN"}]"#)
        return test
    }

    /// Two lines, indented like the fields of the schema.
    private static let fields = "notes: { type: string }\n      pin: { type: string, secret: true }"

    @Test("the upstream receives a secret in the clear, and its answer changes nothing")
    func clear() async throws {
        let test = try await test()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"pin":"1234","notes":"x"}"#)
            try await test.engine.sync(SyncRequest())
        }
        #expect(test.upstream.pushes.map(\.request.body) == [try JSONText(parsing: #"{"pin":"1234","notes":"x"}"#)])
        #expect(try test.store.pendingCount().pending == 0)
        #expect(try test.store.reveal(["pin"], of: "orders", key: "a")?.first?.value == "1234")
    }

    @Test("a 409 about a rule fails a change of a secret after one repetition, as it does any other")
    func rule() async throws {
        let test = try await test()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"pin":"1234"}"#)
        }
        test.upstream.fail(.changed(status: 409, "it was paid"), times: 9)
        for _ in 1...9 { try await test.send() }
        #expect(test.upstream.pushes.count == 2)
        #expect(try test.store.pendingCount().failed == 1)
        let change = try #require(try test.store.pending(PendingQuery(limit: 1)).changes.first)
        #expect(change.at(path: "error.class") == "refused")
    }

    /// The message that the queue stores when a new pin is refused.
    private func storedMessage(_ test: TestEngine, of refusal: String) async throws -> JSONText? {
        try await test.engine.sync(SyncRequest())
        try await test.change("a", #"{"pin":"NEW-PIN"}"#)
        test.upstream.fail(.refused(status: 422, refusal))
        try await test.engine.sync(SyncRequest())
        let change = try #require(try test.store.pending(PendingQuery(limit: 9)).changes.first)
        return change.at(path: "error.message")
    }

    @Test("an error that quotes a secret is stored, shown and logged without it")
    func quoted() async throws {
        let lines = Lines()
        let test = try await test(log: Logger(label: "test") { _ in lines })
        try await test.running {
            let message = try await storedMessage(test, of: "PATCH answered 422: NEW-PIN is no pin, OLD-PIN was")
            #expect(message == "PATCH answered 422: … is no pin, … was")
            let record = try #require(try test.record("a"))
            #expect(!record.text.contains("PIN"), "\(record)")
            _ = try await test.store.retry(nil, at: test.clock.timestamp)
            test.upstream.fail(.unauthorized("the pin NEW-PIN is as bad as OLD-PIN"))
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
        }
        #expect(lines.text.contains("the pin … is as bad as …"))
        #expect(!lines.text.contains("-PIN"), "\(lines.text)")
    }

    @Test("an error cut off within a secret is stored without the secret's beginning")
    func cutOff() async throws {
        let test = try await test()
        try await test.running {
            let message = try await storedMessage(test, of: "PATCH answered 422: this is no pin: NEW-P…; correct it")
            #expect(message == "PATCH answered 422: this is no pin: …; correct it")
        }
    }

    @Test("a change whose secret cannot be opened fails and is not sent")
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        let yaml = TestEngine.shop.replacing("notes: { type: string }", with: Self.fields)
        let schema = try EntitySchema(yaml: yaml, file: "shop.yaml")
        func store(_ key: UInt8) throws -> CacheStore {
            try CacheStore.temporary(schema, in: folder, key: key)
        }
        let now = ManualClock().timestamp
        let first = try store(1)
        _ = try await first.apply(PulledPage(entity: "orders", records: #"[{"id":"a","notes":"n"}]"#), at: now)
        try await first.update("orders", key: "a", body: JSONText(parsing: #"{"pin":"1234","notes":"x"}"#), at: now)
        // The key is lost, and the cache is set to use another one.
        try await first.setSetting("secrets_key", to: SecretSealer.sample(2).mark)
        try first.close()
        let second = try store(2)
        let test = try TestEngine(store: second, schema: yaml)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"}]"#)
        try await test.running { try await test.engine.sync(SyncRequest()) }
        #expect(test.upstream.pushes.isEmpty)
        let change = try #require(try second.pending(PendingQuery(limit: 1)).changes.first)
        #expect(change["state"] == "failed")
        #expect(change.at(path: "error.class") == "sealed")
        #expect(change.at(path: "error.message")?.string?.hasPrefix("pin cannot be opened") == true)
    }
}

/// Collects all log lines in one text.
private struct Lines: LogHandler {
    private let lines = Shared()

    final class Shared: Sendable {
        let text = Mutex("")
    }

    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    var text: String { lines.text.withLock { $0 } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.text.withLock { $0 += "\(event.message) \(event.metadata ?? [:])\n" }
    }
}
