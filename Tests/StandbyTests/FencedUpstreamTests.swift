import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import Standby

struct FencedUpstreamTests {
    private let clock: ManualClock
    private let etcd: FakeEtcd
    private let slow: SlowUpstream
    private let change = PushRequest(entity: "orders", method: "POST", path: "/orders", body: JSONText.object([:]))

    init() {
        clock = ManualClock()
        etcd = FakeEtcd(clock)
        slow = SlowUpstream(clock)
    }

    @Test("without the lease no change is sent, and everything is read")
    func reading() async throws {
        let a = Lease.test("a", at: etcd)
        let upstream = FencedUpstream(slow, lease: a)
        await #expect(throws: UpstreamError.held("another daemon may push")) {
            try await upstream.push(change, idempotencyKey: "k")
        }
        #expect(slow.pushes == 0)
        try await upstream.probe()
        #expect(slow.probes == 1)
    }

    @Test("a change goes through while the lease is held")
    func held() async throws {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        let answer = try await FencedUpstream(slow, lease: a).push(change, idempotencyKey: "k")
        #expect(answer == .accepted())
    }

    /// A push that has begun; it ends with its error, nil if it is accepted.
    private func begin(_ upstream: FencedUpstream) -> Task<UpstreamError?, Never> {
        Task {
            do throws(UpstreamError) {
                _ = try await upstream.push(change, idempotencyKey: "k")
                return nil
            } catch {
                return error
            }
        }
    }

    @Test("a request on the wire when the lease ends is given up before another daemon can begin")
    func onTheWire() async {
        let (a, b) = (Lease.test("a", at: etcd), Lease.test("b", at: etcd))
        await a.hold()
        slow.takes(.seconds(60))
        let push = begin(FencedUpstream(slow, lease: a))
        for _ in 1...27 {
            await clock.waitForSleepers(2)
            clock.advance(by: .milliseconds(500))
            await Task.yield()
        }
        #expect(await push.value == .unclear(status: nil, "this daemon's lease ended before the answer came"))
        #expect(slow.cancelled == 1)
        #expect(await !b.hold())
        clock.advance(by: .milliseconds(1500))
        #expect(await b.hold())
    }

    @Test("a request that takes longer than the lease goes on while the lease is renewed")
    func renewed() async throws {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        slow.takes(.seconds(40))
        let upstream = FencedUpstream(slow, lease: a)
        let push = Task { try await upstream.push(change, idempotencyKey: "k") }
        for second in 1...40 {
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            if second.isMultiple(of: 5) { _ = await a.step() }
        }
        #expect(try await push.value == .accepted())
        #expect(slow.cancelled == 0)
    }

    @Test("a lease that another daemon has taken holds the push back before anything is sent")
    func fence() async throws {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        etcd.remove("shop/holder")
        let upstream = FencedUpstream(slow, lease: a)
        let error = await #expect(throws: UpstreamError.self) { try await upstream.push(change, idempotencyKey: "k") }
        guard case .held = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(slow.pushes == 0)
        #expect(!a.mayPush)
    }

    @Test("what could not be stored in etcd is not sent")
    func stored() async throws {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        let upstream = FencedUpstream(slow, lease: a) { () throws(StandbyError) in throw .unanswered("no majority") }
        await #expect(throws: UpstreamError.held("the queue could not be stored in etcd: no majority")) {
            try await upstream.push(change, idempotencyKey: "k")
        }
        #expect(slow.pushes == 0)
    }

    @Test("a push that its caller cancels is cancelled, not unclear")
    func cancelled() async {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        slow.takes(.seconds(60))
        let push = begin(FencedUpstream(slow, lease: a))
        await clock.waitForSleepers(2)
        push.cancel()
        #expect(await push.value == .cancelled)
    }

    @Test("a lease that ends while a change waits for its turn holds it back: it was never sent")
    func waiting() async {
        let (a, b) = (Lease.test("a", at: etcd), Lease.test("b", at: etcd))
        await a.hold()
        slow.waits(.seconds(60))
        let push = begin(FencedUpstream(slow, lease: a))
        for _ in 1...27 {
            await clock.waitForSleepers(2)
            clock.advance(by: .milliseconds(500))
            await Task.yield()
        }
        #expect(await push.value == .held("this daemon's lease ended before the change was sent"))
        #expect(slow.pushes == 0)
        clock.advance(by: .milliseconds(1500))
        #expect(await b.hold())
    }

    @Test("a change that has waited for its turn asks etcd after the wait, not before")
    func afterTheWait() async {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        slow.waits(.milliseconds(900))
        let push = begin(FencedUpstream(slow, lease: a))
        await clock.waitForSleepers(2)
        etcd.remove("shop/holder")
        clock.advance(by: .milliseconds(900))
        guard case .held = await push.value else { return #expect(Bool(false), "it was sent") }
        #expect(slow.pushes == 0)
        #expect(!a.mayPush)
    }

    @Test("a lease that was lost and acquired again meanwhile does not let an earlier change pass")
    func again() async throws {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        let fence = Fence(a, try #require(a.valid?.revision))
        etcd.revokeAll()
        _ = await a.step()
        #expect(await a.hold())
        await #expect(throws: UpstreamError.self) { try await fence.pass() }
        #expect(!fence.isPassed)
    }

    @Test("uploads pass the fence too")
    func uploads() async throws {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        etcd.remove("shop/holder")
        let upstream = FencedUpstream(slow, lease: a)
        let source = BodySource(size: 0) { _, _ in [] }
        let upload = await #expect(throws: UpstreamError.self) {
            try await upstream.upload(change, from: source, idempotencyKey: "k")
        }
        guard case .held = upload else { return #expect(Bool(false), "\(String(describing: upload))") }
        #expect(slow.pushes == 0)
    }
}

/// Answers each change after a while, and everything else at once.
private struct SlowUpstream: BareUpstream {
    private struct Counts {
        var (wait, time) = (Duration.zero, Duration.zero)
        var (pushes, probes, cancelled) = (0, 0, 0)
    }

    private final class Record: Sendable {
        let counts = Mutex(Counts())
    }

    private let record = Record()
    private let clock: ManualClock
    private var turn = RequestTurn()

    init(_ clock: ManualClock) { self.clock = clock }

    func takes(_ time: Duration) { record.counts.withLock { $0.time = time } }

    /// Before a change is sent.
    func waits(_ wait: Duration) { record.counts.withLock { $0.wait = wait } }

    var pushes: Int { record.counts.withLock { $0.pushes } }
    var probes: Int { record.counts.withLock { $0.probes } }
    var cancelled: Int { record.counts.withLock { $0.cancelled } }

    func taking(_ turn: RequestTurn) -> any Upstream {
        var copy = self
        copy.turn = turn
        return copy
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        try await pass(record.counts.withLock { $0.wait })
        try await turn.fence?()
        let time = record.counts.withLock { counts in
            counts.pushes += 1
            return counts.time
        }
        try await pass(time)
        return .accepted()
    }

    func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> PushAnswer {
        try await push(request, idempotencyKey: idempotencyKey)
    }

    private func pass(_ time: Duration) async throws(UpstreamError) {
        do {
            if time > .zero { try await clock.sleep(for: time) }
        } catch {
            record.counts.withLock { $0.cancelled += 1 }
            throw .cancelled
        }
    }

    func probe() async throws(UpstreamError) { record.counts.withLock { $0.probes += 1 } }
}
