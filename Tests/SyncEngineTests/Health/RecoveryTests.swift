import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("The end of an outage")
struct RecoveryTests {
    @Test("the status says that the upstream fails, and that changes wait until it works again")
    func status() async throws {
        let test = try TestEngine()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.failProbes(true)
            for list in ["/orders", "/parts"] { test.upstream.failList(list, .unclear(status: 503, "down")) }
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            let words =
                "the upstream fails at every request, as during maintenance: down; changes wait, and are sent when it works again"
            try await test.until { test.engine.status().error == words }
            test.upstream.failProbes(false)
            for list in ["/orders", "/parts"] { test.upstream.failList(list, nil) }
            try await test.until { test.engine.status().error == nil }
        }
    }

    @Test("when an outage ends for all but the changes, each of them keeps its own wait")
    func changesStillFail() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"1","notes":"n"},{"id":"2","notes":"n"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            for key in ["1", "2"] { try await test.change(key, #"{"notes":"mine"}"#) }
            let (now, later) = (test.clock.timestamp, test.clock.timestamp + .seconds(3600))
            let second = try #require(try test.store.readyChanges(limit: 2, at: now).last)
            #expect(try await test.store.begin(second, at: now))
            let failure = PushFailure(.server, status: 500, message: "broken")
            try await test.store.finish(second.id, .waiting(failure, at: later, counted: true), at: now)
            test.upstream.breakMethod("PATCH")
            test.upstream.failProbes(true)
            for list in ["/orders", "/parts"] { test.upstream.failList(list, .unclear(status: 503, "down")) }
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().state == .error)
            test.upstream.failProbes(false)
            for list in ["/orders", "/parts"] { test.upstream.failList(list, nil) }
            try await test.until { test.engine.status().error == nil }
            let end = test.clock.timestamp + .seconds(60)
            try await test.until { test.clock.timestamp >= end }
            #expect(!test.upstream.pushes.contains { $0.request.path == "/orders/2" })
        }
    }

    private static let moreLists =
        TestEngine.shop + """

              makers:
                fields:
                  id: { type: string }
                pull: { path: /makers }
              tools:
                fields:
                  id: { type: string }
                pull: { path: /tools }
            """
    private static let broken = UpstreamError.unclear(status: 500, "broken")

    @Test("broken lists keep no other from being pulled, and are asked for as rarely as after any failed sync")
    func brokenLists() async throws {
        let test = try TestEngine(schema: Self.moreLists)
        try test.upstream.set("/tools", #"[{"id":"t"}]"#)
        for list in ["/orders", "/parts", "/makers"] { test.upstream.failList(list, Self.broken) }
        try await test.running {
            let end = test.clock.timestamp + .seconds(600)
            try await test.until { test.clock.timestamp >= end }
            #expect(try test.store.rowCounts()["tools"] == 1)
            #expect(test.upstream.pages.count { $0.path == "/orders" } < 20)
        }
    }

    @Test("an upstream of which only the probe works is asked ever more rarely")
    func relapses() async throws {
        let test = try TestEngine()
        for list in ["/orders", "/parts"] { test.upstream.failList(list, Self.broken) }
        try await test.running {
            let end = test.clock.timestamp + .seconds(600)
            try await test.until { test.clock.timestamp >= end }
            #expect(test.upstream.pages.count < 60)
            let back = test.clock.timestamp
            for list in ["/orders", "/parts"] { test.upstream.failList(list, nil) }
            try await test.until { test.engine.status().error == nil }
            #expect(test.clock.timestamp.since(back) <= .seconds(130))
        }
    }
}
