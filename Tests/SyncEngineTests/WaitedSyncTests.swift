import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A sync that a caller waits for")
struct WaitedSyncTests {
    private let orders = #"[{"id":"a","updated_at":"2026-01-01T00:00:00.000Z"},{"id":"b"}]"#

    @Test(
        "what was queued before it was asked for is sent, also if it joins a sync that has sent",
        .timeLimit(.minutes(10)))
    func joinsLate() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let pages = Gate()
            test.upstream.onPage { await pages.pass() }
            await test.engine.requestSync(SyncRequest())
            await pages.arrival()
            try await test.change("a", #"{"notes":"x"}"#)
            let sync = Task {
                try await test.engine.sync(SyncRequest())
                return try test.store.pendingCount().pending
            }
            while await !test.engine.pull.waiters.isAwaited(.max), !Task.isCancelled { await Task.yield() }
            pages.open()
            #expect(try await sync.value == 0)
            #expect(test.upstream.pages.filter { $0.path == "/parts" }.count == 2, "it has joined the second sync")
        }
    }

    @Test("its caller sees at once when the next one is due")
    func nextSync() async throws {
        let test = try TestEngine()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let first = try #require(test.engine.status().nextSyncAt)
            for number in 1...20 {
                test.clock.advance(by: .seconds(10))
                try await test.engine.sync(SyncRequest())
                #expect(test.engine.status().nextSyncAt == first + .seconds(10 * number))
            }
        }
    }

    @Test("what was confirmed for a sync that failed is not deleted by the next one")
    func failedConfirmation() async throws {
        let test = try TestEngine()
        try test.upstream.set("/parts", JSONText.array((1...40).map { .object(["id": .string("p\($0)")]) }).text)
        test.upstream.hideRecords(true)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            try test.upstream.set("/parts", #"[{"id":"p1"}]"#)
            test.upstream.setOffline(true)
            // The first one finds out.
            for deletes: Set<String> in [[], ["parts"]] {
                let request = SyncRequest(full: true, deletes: deletes)
                await #expect(throws: SyncError.self) { try await test.engine.sync(request) }
            }
            test.upstream.setOffline(false)
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.store.rowCounts()["parts"] == 40)
            try await test.engine.sync(SyncRequest(full: true, deletes: ["parts"]))
            #expect(try test.store.rowCounts()["parts"] == 1)
        }
    }

    @Test(
        "what a push under way could not send is sent if the upstream serves lists after all", .timeLimit(.minutes(10)))
    func sendsTheRest() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let (pushes, pages) = (Gate(), Gate())
            test.upstream.onPush { await pushes.pass() }
            test.upstream.fail(.offline("the connection was refused"))
            try await test.change("a", #"{"notes":"x"}"#)
            test.engine.noteLocalWrite()
            await test.clock.passSleep(of: .milliseconds(100))
            await pushes.arrival()
            test.upstream.onPage { await pages.pass() }
            let sync = Task {
                try await test.engine.sync(SyncRequest())
                return try test.store.pendingCount().pending
            }
            await pages.arrival()
            pushes.open()
            while await test.engine.push.shownPushing.value, !Task.isCancelled { await Task.yield() }
            #expect(try test.store.pendingCount().pending == 1)
            pages.open()
            #expect(try await sync.value == 0)
        }
    }
}
