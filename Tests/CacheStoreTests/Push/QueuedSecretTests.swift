import Foundation
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// What users and callers do with queued changes that have secrets.
@Suite("Secrets in queued changes")
struct QueuedSecretTests {
    private let now = TestCache.now

    /// A cache with one record and one queued edit of its model.
    private func cache() async throws -> TestCache {
        let cache = try TestCache(schema: SealedSecretTests.workshop)
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"0","model":"m"}]"#)
        try await cache.store.update("devices", key: "a", body: .object(["model": "n"]), at: now)
        return cache
    }

    private func ready(_ cache: TestCache) throws -> OutboxChange {
        try #require(try cache.store.readyChanges(limit: 1, at: now).first)
    }

    private func holds(_ cache: TestCache, _ text: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: cache.folder.path).contains { name in
            try Data(contentsOf: cache.folder.url.appending(path: name)).range(of: Data(text.utf8)) != nil
        }
    }

    @Test("a correction is stored sealed, shown masked wherever there is a secret, and sent in the clear")
    func corrected() async throws {
        let cache = try await cache()
        let fields = try JSONText(parsing: #"{"passcode":"CANARY-1","lock":{"code":"CANARY-2","kind":"pin"}}"#)
        try await cache.store.correct(1, setting: fields, at: now)
        #expect(try !holds(cache, "CANARY-"))
        let shown = try cache.store.pendingChange(1)
        #expect(shown["body"]?.text == #"{"model":"n","lock":{"kind":"pin"}}"#)
        let request = shown.at(path: "request.body")?.text
        #expect(request == #"{"model":"n","passcode":"…","lock":{"code":"…","kind":"pin"}}"#)
        let change = try ready(cache)
        #expect(
            change.body.text == #"{"model":"n","passcode":"CANARY-1","lock":{"code":"CANARY-2","kind":"pin"}}"#)
        #expect(try await cache.store.begin(change, at: now))
    }

    @Test("a correction to the change's current value changes nothing")
    func same() async throws {
        let cache = try await cache()
        try await cache.store.correct(1, setting: .object(["passcode": "1"]), at: now)
        let before = try ready(cache)
        try await cache.store.correct(1, setting: .object(["passcode": "1"]), at: now)
        #expect(try ready(cache) == before)
    }

    @Test("a change is not begun when its secret was edited since it was read")
    func edited() async throws {
        let cache = try await cache()
        try await cache.store.update("devices", key: "a", body: .object(["passcode": "1"]), at: now)
        let read = try ready(cache)
        try await cache.store.update("devices", key: "a", body: .object(["passcode": "2"]), at: now)
        #expect(try await !cache.store.begin(read, at: now))
        #expect(try await cache.store.begin(ready(cache), at: now))
    }

    @Test("an answer stored before a field became secret is removed, and its call is still not repeated")
    func answers() async throws {
        let secret = SealedSecretTests.workshop
        let cache = try TestCache(schema: secret.replacing("secret: true", with: "secret: false"))
        _ = try await cache.pull("devices", #"[{"id":"a","model":"m"}]"#)
        let call = RepeatableCall(key: "k", request: [1])
        _ = try await cache.store.write(once: call, at: now) { transaction in
            try transaction.update("devices", key: "a", .object(["passcode": "CANARY-3"]))
            return #"{"body":"CANARY-3"}"#
        }
        let reopened = try cache.reopened(schema: secret)
        #expect(try !holds(reopened, "CANARY-"))
        #expect(try await reopened.store.write(once: call, at: now) { _ in "again" } == "{}")
    }
}
