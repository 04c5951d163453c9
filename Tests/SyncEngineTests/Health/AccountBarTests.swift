import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("An account that is refused")
struct AccountBarTests {
    private let now = Timestamp(milliseconds: 0)
    private let barred = UpstreamError.barred(status: 403, "PATCH answered 403: not approved yet")

    // MARK: The bar alone

    /// A bar, and what happens to it.
    private final class Account {
        var bar = AccountBar()

        func admits(_ change: Int64, at time: Timestamp) -> Bool { bar.admits(change, at: time) }

        /// An attempt that is barred.
        func barred(
            _ change: Int64, others: Bool, cause: AccountBar.Cause = .account, at time: Timestamp
        ) -> AccountBar.Verdict {
            bar.begin(change)
            defer { bar.end(change) }
            return bar.bar(change, "no", hasOthers: others, cause: cause, at: time)
        }

        /// An attempt that gets through; true when that ends the bar.
        func passes(_ change: Int64) -> Bool {
            bar.begin(change)
            defer { bar.end(change) }
            return bar.pass(change)
        }
    }

    @Test("trials come one at a time: the first at once, then 2 s to 60 s apart")
    func trials() {
        let account = Account()
        #expect(account.admits(1, at: now) && account.admits(2, at: now))
        #expect(account.barred(1, others: true, at: now) == .waits)
        #expect(account.barred(2, others: true, at: now) == .waits, "both were under way: one trial")
        var time = now
        var waits: [Int64] = []
        for change in Int64(3)...10 {
            #expect(account.admits(change, at: time))
            #expect(!account.admits(99, at: time), "one at a time")
            #expect(account.barred(change, others: true, at: time) == .waits)
            let wait = account.bar.wait(at: time)
            waits.append(wait.components.seconds)
            #expect(!account.admits(99, at: time + wait - .milliseconds(1)))
            time = time + wait
        }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60])
    }

    @Test("a change that gets through ends the bar; one that was under way before says nothing about the barred one")
    func passes() {
        let account = Account()
        account.bar.begin(2)
        #expect(account.barred(1, others: false, at: now) == .waits)
        let ends = account.bar.pass(2)
        #expect(ends && !account.bar.isSet)
        #expect(account.barred(1, others: false, at: now) == .waits, "2 was sent before 1 was barred")
        #expect(account.passes(3))
        #expect(account.barred(1, others: false, at: now) == .concernsChange)
    }

    @Test(
        "a change that is barred in the attempt that was answered does not end the bar, and the next trials wait longer"
    )
    func barredAfterAnswer() {
        let account = Account()
        var time = now
        var waits: [Int64] = []
        for _ in 1...4 {
            #expect(account.admits(1, at: time))
            account.bar.begin(1)
            let verdict = account.bar.bar(1, "404 to all", hasOthers: false, cause: .account, at: time)
            let ends = account.bar.pass(1)
            account.bar.end(1)
            #expect(verdict == .waits && !ends && account.bar.isSet)
            let wait = account.bar.wait(at: time)
            waits.append(wait.components.seconds)
            time = time + wait
        }
        #expect(waits == [0, 2, 4, 8])
        #expect(account.passes(1) && !account.bar.isSet, "the next attempt gets through")
    }

    @Test("while others wait, two of them must get through between the attempts of a barred change")
    func twice() {
        let account = Account()
        #expect(account.barred(1, others: true, at: now) == .waits)
        for other in Int64(2)...5 { _ = account.passes(other) }
        #expect(account.barred(1, others: true, at: now) == .waits, "they all got through in one spell")
        #expect(account.passes(6))
        #expect(account.barred(1, others: true, at: now) == .concernsChange)
        #expect(account.barred(1, others: true, at: now) == .waits, "the count starts over")
    }

    @Test("401 concerns a change once others got through twice between its attempts, and from then on")
    func refusedToken() {
        let account = Account()
        func refused() -> AccountBar.Verdict { account.barred(1, others: false, cause: .token, at: now) }
        #expect(refused() == .waits && account.bar.refusesToken)
        #expect(account.passes(2) && !account.bar.refusesToken)
        #expect(refused() == .waits)
        #expect(account.passes(3))
        #expect(refused() == .concernsChange && !account.bar.isSet)
        #expect(refused() == .concernsChange && !account.bar.isSet)
        #expect(!account.passes(1))
        #expect(refused() == .waits, "it got through")
    }

    // MARK: In the engine

    private func engine(orders count: Int) throws -> TestEngine {
        let test = try TestEngine(upstream: FakeUpstream(pageSize: 100))
        let rows = (1...count).map { #"{"id":"o\#($0)","updated_at":"2026-01-01T00:00:00.000Z"}"# }
        try test.upstream.set("/orders", "[\(rows.joined(separator: ","))]")
        return test
    }

    private func change(_ count: Int, _ test: TestEngine) async throws {
        for number in 1...count { try await test.change("o\(number)", #"{"notes":"mine"}"#) }
        test.engine.noteLocalWrite()
    }

    @Test(
        "#2 an account that is refused everything loses nothing, and its changes go out when it is accepted again",
        arguments: [402, 403, 302, 200])
    func everything(_ status: Int) async throws {
        let test = try engine(orders: 20)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let barred = UpstreamError.barred(status: status, "PATCH answered \(status): not approved yet")
            test.upstream.refuse { _ in barred }
            try await change(20, test)
            // Between two syncs, which are 15 minutes apart.
            let end = test.clock.timestamp + .seconds(4 * 3600 + 300)
            try await test.until(step: .seconds(10)) { test.clock.timestamp >= end }
            #expect(try test.store.pendingCount() == PendingCount(pending: 20, failed: 0))
            let requests = test.upstream.pushes.count
            #expect(requests > 150 && requests < 4 * 3600 / 60 + 20, "\(requests)")
            let status = test.engine.status()
            #expect(status.state == .error)
            #expect(status.error?.hasPrefix("the upstream refuses this account's changes: PATCH answered") == true)
            #expect(status.error?.contains("sign in again") == true && status.refusesAccount && !status.needsSignIn)

            test.upstream.refuse(nil)
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(try test.store.pendingCount().failed == 0)
            #expect(test.upstream.pushes.count < requests + 40)
            #expect(test.engine.status().error == nil)
            #expect(!test.engine.status().refusesAccount)
        }
    }

    @Test("a sync that someone asks for tries at once, also if every change was refused")
    func askedSync() async throws {
        let test = try engine(orders: 3)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.refuse { _ in .barred(status: 403, "accept the terms") }
            try await change(1, test)
            let end = test.clock.timestamp + .seconds(600)
            try await test.until(step: .seconds(10)) { test.clock.timestamp >= end }
            test.upstream.refuse(nil)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        }
    }

    @Test(
        "the repeat of an earlier refusal does not show that the account may change things, and is not counted",
        arguments: [402, 403])
    func storedRefusals(_ status: Int) async throws {
        let test = try engine(orders: 3)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.storeFailures()
            test.upstream.refuse { _ in .barred(status: status, "PATCH answered \(status): not approved yet") }
            try await change(3, test)
            let end = test.clock.timestamp + .seconds(2 * 3600)
            try await test.until(step: .seconds(10)) { test.clock.timestamp >= end }
            #expect(try test.store.pendingCount() == PendingCount(pending: 3, failed: 0))

            test.upstream.refuse(nil)
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(try test.store.pendingCount().failed == 0)
        }
    }

    /// How many edits are sent within an hour if each gets this answer, and no record can be read then.
    private func pushes(answering answer: UpstreamError, _ hideRecords: (FakeUpstream) throws -> Void) async throws
        -> Int
    {
        let test = try engine(orders: 5)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try hideRecords(test.upstream)
            test.upstream.refuse { _ in answer }
            try await change(1, test)
            let end = test.clock.timestamp + .seconds(3600)
            try await test.until(step: .seconds(10)) { test.clock.timestamp >= end }
            #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        }
        return test.upstream.pushes.count
    }

    @Test("an upstream that lost all its records and answers edits with 412 gets no more than one a minute")
    func emptied() async throws {
        let pushes = try await pushes(answering: .changed(status: 412, "PATCH answered 412")) { upstream in
            try upstream.set("/orders", "[]")
            upstream.hideRecords(true)
        }
        #expect(pushes < 3600 / 60 + 40, "\(pushes)")
    }

    @Test("nor one that refuses edits and answers reads with a page")
    func refusedAndHidden() async throws {
        let pushes = try await pushes(answering: .refused(status: 400, "PATCH answered 400")) { upstream in
            upstream.failRecords(.barred(status: 200, "a web page", isPage: true))
        }
        #expect(pushes < 3600 / 60 + 40, "\(pushes)")
    }

    @Test("that the account is refused is logged once, not with each attempt")
    func logged() async throws {
        let lines = LogLines()
        let test = try TestEngine(log: lines.logger)
        try test.upstream.set("/orders", #"[{"id":"o1"},{"id":"o2"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let barred = barred
            test.upstream.refuse { _ in barred }
            try await change(2, test)
            try await test.until { test.upstream.pushes.count >= 5 }
            let errors = lines.all.filter { $0.message.hasPrefix("the upstream refuses this account's changes") }
            #expect(errors.count == 1)
        }
    }

    @Test("a token that changes are refused is logged as that, and not as an account that is refused")
    func loggedToken() async throws {
        let lines = LogLines()
        let test = try TestEngine(log: lines.logger)
        try test.upstream.set("/orders", #"[{"id":"o1"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.refuse { _ in .unauthorized("PATCH answered 401") }
            try await change(1, test)
            try await test.until {
                let first = try test.store.pending(PendingQuery(limit: 1)).changes.first
                return first?.at(path: "error.class") == "unauthorized"
            }
            #expect(lines.all.contains { $0.message == "the upstream does not accept the token" })
            #expect(!lines.all.contains { $0.message.hasPrefix("the upstream refuses this account's changes") })
        }
    }

    @Test("the status of a bar names the token when changes are refused for it")
    func statusOfToken() {
        var bar = AccountBar()
        _ = bar.bar(1, "PATCH answered", hasOthers: false, cause: .token, at: now)
        #expect(bar.status == "the upstream refuses the token for changes: PATCH answered; sign in again")
    }

    @Test("during maintenance the status says so, and not that the account is refused", arguments: [500, 502, 503])
    func maintenance(_ status: Int) async throws {
        let test = try engine(orders: 1)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let page = UpstreamError.barred(
                status: status, "PATCH answered \(status) with a web page where JSON belongs", isPage: true)
            test.upstream.refuse { _ in page }
            try await change(1, test)
            try await test.until { test.engine.status().error != nil }
            let error = try #require(test.engine.status().error)
            #expect(error.hasPrefix("the upstream takes no changes right now, as during maintenance: PATCH answered"))
            #expect(error.contains("they wait") && !error.contains("account") && !error.contains("sign in"))
            #expect(!test.engine.status().needsSignIn)
            test.upstream.refuse(nil)
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.engine.status().error == nil)
        }
    }

    @Test("an answer of a gateway that wants a sign-in is none of maintenance")
    func gateway() {
        let causes = [302, 402, 403, 404, 407, 511, 200].map { AccountBar.Cause(status: $0) }
        #expect(causes.allSatisfy { $0 == .account })
        #expect(AccountBar.Cause(status: 401) == .token)
    }

    @Test("a change that alone is refused fails for good, and holds up no other", arguments: [402, 403])
    func oneChange(_ status: Int) async throws {
        let test = try engine(orders: 20)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.refuse { $0.path == "/orders/o3" ? .barred(status: status, "not for you") : nil }
            try await change(20, test)
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(try test.store.pendingCount().failed == 1)
            let failed = try #require(try test.store.pending(PendingQuery(limit: 1)).changes.first)
            #expect(failed["record_id"] == "o3" && failed.at(path: "error.class") == "refused")
            #expect(failed.at(path: "error.message")?.string?.hasSuffix("; other changes are accepted") == true)
            #expect(test.upstream.pushes.count <= 19 + 3)
            #expect(test.engine.status().error == nil)
        }
    }

    @Test("a change that alone is answered 401 fails in the end, and holds up neither pulls nor other changes")
    func oneToken() async throws {
        let test = try engine(orders: 20)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.refuse { $0.path == "/orders/o1" ? .unauthorized("PATCH answered 401") : nil }
            try await change(1, test)
            try await test.until { test.upstream.pushes.count >= 2 }
            let pages = test.upstream.pages.count
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.pages.count > pages)
            #expect(test.engine.status().needsSignIn, "no other change has shown yet that the token counts")
            for number in 2...4 {
                try await test.change("o\(number)", #"{"notes":"mine"}"#)
                test.engine.noteLocalWrite()
                try await test.until { try test.store.pendingCount().pending <= 1 }
            }
            try await test.until { try test.store.pendingCount().pending == 0 }
            let failed = try #require(try test.store.pending(PendingQuery(limit: 1)).changes.first)
            #expect(failed["record_id"] == "o1" && failed.at(path: "error.class") == "unauthorized")
            #expect(failed.at(path: "error.message")?.string?.hasSuffix("; other changes are accepted") == true)
            #expect(try test.store.pendingCount().failed == 1)
            #expect(!test.engine.status().needsSignIn)
        }
    }

    @Test("a token that has expired fails no change, though lists are served without one")
    func expiredToken() async throws {
        let test = try engine(orders: 20)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let expired = UpstreamError.unauthorized("PATCH answered 401: expired")
            test.upstream.refuse { _ in expired }
            try await change(20, test)
            let end = test.clock.timestamp + .seconds(4 * 3600)
            try await test.until(step: .seconds(10)) { test.clock.timestamp >= end }
            #expect(try test.store.pendingCount() == PendingCount(pending: 20, failed: 0))
            let requests = test.upstream.pushes.count
            #expect(requests < 4 * 3600 / 60 + 40, "\(requests)")
            #expect(test.engine.status().needsSignIn)

            test.upstream.refuse(nil)
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(try test.store.pendingCount().failed == 0)
            #expect(!test.engine.status().needsSignIn)
        }
    }

    @Test("a change that alone meets web pages counts its attempts")
    func onePage() async throws {
        let test = try engine(orders: 3)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.refuse { $0.path == "/orders/o1" ? .barred(status: 200, "a web page") : nil }
            try await change(3, test)
            // Others must get through each time.
            for round in 1...20 where try test.store.pendingCount().failed == 0 {
                try await test.change("o2", #"{"notes":"\#(round)"}"#)
                test.engine.noteLocalWrite()
                try await test.until(step: .seconds(1)) { try test.store.pendingCount().pending <= 1 }
                let time = test.clock.timestamp + .seconds(60)
                try await test.until(step: .seconds(1)) { test.clock.timestamp >= time }
            }
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        }
    }

    @Test("a refusal of what a change says shows that the account may change things")
    func refusal() async throws {
        let test = try engine(orders: 2)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let barred = barred
            test.upstream.refuse { $0.path == "/orders/o1" ? barred : .refused(status: 422, "too long") }
            try await change(1, test)
            try await test.until { test.engine.status().error != nil }
            try await test.change("o2", #"{"notes":"mine"}"#)
            test.engine.noteLocalWrite()
            try await test.until { try test.store.pendingCount().failed == 2 }
            #expect(test.engine.status().error == nil)
        }
    }
}
