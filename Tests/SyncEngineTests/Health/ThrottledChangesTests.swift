import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("An upstream that asks to wait with a change")
struct ThrottledChangesTests {
    private static let start = Timestamp(milliseconds: 0)

    // MARK: What is limited

    /// The changes and what happens to them, as a value that expectations can show. Each wait is a minute.
    private final class Limits {
        private var changes = ThrottledChanges()
        private var now = ThrottledChangesTests.start

        private func change(_ name: String, _ operation: Operation) -> ThrottledChanges.Change {
            ThrottledChanges.Change(name, operation, of: "orders")
        }

        /// True if only the change must wait.
        func waits(_ name: String, _ operation: Operation = .update) -> Bool {
            let limit = changes.noteWait(with: change(name, operation), until: now + .seconds(60), at: now)
            if case .change = limit { return true }
            return false
        }

        func isRouteHeld(_ operation: Operation) -> Bool {
            changes.isRouteHeld(of: change("", operation), at: now)
        }

        func passes(_ name: String, _ operation: Operation = .update) {
            changes.pass(change(name, operation), at: now)
        }
        func reads() { changes.noteRead(at: now) }
        func sleep(_ seconds: Int = 60) { now = now + .seconds(seconds) }
    }

    @Test("concerns only the change once others get through between its attempts, until it gets through")
    func oneChange() {
        let limits = Limits()
        #expect(!limits.waits("a"))
        limits.sleep()
        limits.passes("b")
        #expect(limits.waits("a") && limits.waits("a"))
        limits.passes("a")
        #expect(!limits.waits("a"))
    }

    @Test("concerns everything while nothing else gets through")
    func everything() {
        let limits = Limits()
        for _ in 1...3 {
            #expect(!limits.waits("a") && !limits.waits("b"))
            limits.sleep()
        }
    }

    @Test("is not judged by changes that were under way at its first answer")
    func underWay() {
        let limits = Limits()
        #expect(!limits.waits("a"))
        limits.passes("b")
        limits.sleep()
        #expect(!limits.waits("a"))
    }

    @Test("concerns everything if several changes are answered so in a row, and each alone later")
    func several() {
        let limits = Limits()
        #expect(!limits.waits("a") && !limits.waits("b"))
        limits.sleep()
        limits.passes("c")
        #expect(limits.waits("a"))
        #expect(!limits.waits("b"), "a may have met the limit of all")
        limits.sleep()
        limits.passes("d")
        #expect(limits.waits("a") && limits.waits("b"))
    }

    @Test("concerns only the change if it is the only one and records can be read")
    func reads() {
        let limits = Limits()
        #expect(!limits.waits("a"))
        limits.sleep()
        limits.reads()
        #expect(limits.waits("a"))
        #expect(!limits.waits("b"))
        limits.sleep()
        limits.reads()
        #expect(!limits.waits("a") && !limits.waits("b"), "changes may have a limit of their own")
    }

    @Test("concerns the route if only changes of others get through, until one of the route does")
    func route() {
        let limits = Limits()
        #expect(!limits.waits("a", .create))
        #expect(!limits.waits("b", .create))
        limits.sleep()
        #expect(limits.isRouteHeld(.create) && !limits.isRouteHeld(.update), "others go first")
        limits.passes("c")
        limits.sleep(1)
        #expect(!limits.isRouteHeld(.create))
        #expect(limits.waits("a", .create) && !limits.isRouteHeld(.create))
        limits.passes("g")
        #expect(limits.waits("d", .create))
        #expect(limits.isRouteHeld(.create) && !limits.isRouteHeld(.update))
        limits.sleep()
        #expect(!limits.isRouteHeld(.create))
        #expect(limits.waits("a", .create) && limits.isRouteHeld(.create))
        limits.passes("e", .create)
        #expect(!limits.isRouteHeld(.create))
        #expect(!limits.waits("f", .create), "not the route: e got through")
    }

    // MARK: In the engine

    private func engine(orders count: Int) async throws -> TestEngine {
        let test = try TestEngine(upstream: FakeUpstream(pageSize: 100))
        let rows = (1...count).map { #"{"id":"o\#($0)","updated_at":"2026-01-01T00:00:00.000Z"}"# }
        try test.upstream.set("/orders", "[\(rows.joined(separator: ","))]")
        return test
    }

    private func change(_ numbers: ClosedRange<Int>, _ test: TestEngine) async throws {
        for number in numbers { try await test.change("o\(number)", #"{"notes":"mine"}"#) }
        test.engine.noteLocalWrite()
    }

    private func attempts(_ id: String, _ test: TestEngine) -> Int {
        test.upstream.pushes.count { $0.request.path == "/orders/\(id)" }
    }

    @Test("stops everything once, and after that only the change")
    func stopsOnce() async throws {
        let test = try await engine(orders: 21)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.refuse { $0.path == "/orders/o3" ? .throttled(.seconds(600), "too many of this") : nil }
            try await change(1...20, test)
            try await test.until { attempts("o3", test) == 2 }
            #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
            #expect(test.engine.status().retryAfter == nil)
            let began = test.clock.timestamp
            try await change(21...21, test)
            // In small steps: some pass before the engine gets its turn, while other threads are busy.
            try await test.until(step: .milliseconds(50)) { attempts("o21", test) == 1 }
            #expect(test.clock.timestamp.since(began) < .seconds(5))
            try await test.engine.sync(SyncRequest())
            try await test.until(step: .seconds(5)) { attempts("o3", test) == 4 }
            #expect(test.clock.timestamp.since(began) >= .seconds(1190), "as long as the upstream asks for")
            test.upstream.refuse(nil)
            try await test.until { try test.store.pendingCount().pending == 0 }
        }
    }

    @Test("waits with all changes of a route that alone is limited, with few requests")
    func limitOfRoute() async throws {
        let test = try await engine(orders: 40)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.refuse { $0.method == "POST" ? .throttled(.seconds(600), "too many of these") : nil }
            for number in 1...30 {
                let body = try JSONText(parsing: #"{"notes":"new \#(number)"}"#)
                _ = try await test.store.create("orders", body: body, at: test.clock.timestamp)
            }
            for number in 1...40 {
                try await change(number...number, test)
                let end = test.clock.timestamp + .seconds(120)
                try await test.until(step: .seconds(1)) { test.clock.timestamp >= end }
            }
            let sent = test.upstream.pushes.count { $0.request.method == "POST" }
            #expect(sent < 100, "\(sent)")
            #expect(try test.store.pendingCount().pending <= 31)
            #expect(test.engine.status().retryAfter == nil)
            test.upstream.refuse(nil)
            try await test.until(step: .seconds(5)) { try test.store.pendingCount().pending == 0 }
        }
    }

    /// Takes ten requests a minute.
    private final class Window: Sendable {
        private let times = Mutex<[Timestamp]>([])

        func admits(at now: Timestamp) -> Bool {
            times.withLock { times in
                times.removeAll { $0 + .seconds(60) <= now }
                guard times.count < 10 else { return false }
                times.append(now)
                return true
            }
        }
    }

    @Test("stops all changes each time if it has one limit for all of them")
    func limitOfAll() async throws {
        let test = try await engine(orders: 40)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let (window, clock) = (Window(), test.clock)
            test.upstream.refuse { _ in
                window.admits(at: clock.timestamp) ? nil : .throttled(.seconds(60), "too many")
            }
            try await change(1...40, test)
            try await test.until { try test.store.pendingCount().pending == 0 }
            // In each minute those that are under way together.
            #expect(test.upstream.pushes.count <= 40 + 6 * 5, "\(test.upstream.pushes.count)")
        }
    }
}
