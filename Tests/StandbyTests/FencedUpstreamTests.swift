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
}

/// Answers each change after a while, and everything else at once.
private final class SlowUpstream: Upstream {
    private struct State {
        var time = Duration.zero
        var (pushes, probes, cancelled) = (0, 0, 0)
    }

    private let state = Mutex(State())
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func takes(_ time: Duration) { state.withLock { $0.time = time } }

    var pushes: Int { state.withLock { $0.pushes } }
    var probes: Int { state.withLock { $0.probes } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        let time = state.withLock { state in
            state.pushes += 1
            return state.time
        }
        do {
            if time > .zero { try await clock.sleep(for: time) }
        } catch {
            state.withLock { $0.cancelled += 1 }
            throw .cancelled
        }
        return .accepted()
    }

    func account() async throws(UpstreamError) -> SignedInAccount? { nil }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page { Page(records: .array([]), count: 0) }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? { nil }

    func probe() async throws(UpstreamError) { state.withLock { $0.probes += 1 } }
}
