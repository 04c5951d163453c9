import TestSupport
import Testing

@testable import Standby

struct LeaseTests {
    private let clock: ManualClock
    private let etcd: FakeEtcd

    init() {
        clock = ManualClock()
        etcd = FakeEtcd(clock)
    }

    @Test("one daemon acquires the lease, and the other one learns its name")
    func one() async {
        let (a, b) = (Lease.test("a", at: etcd), Lease.test("b", at: etcd))
        #expect(await a.hold())
        #expect(await !b.hold())
        #expect(a.mayPush)
        #expect(!b.mayPush)
        #expect(a.standing == Lease.Standing(holdsLease: true, isReady: true, holder: "a", left: .milliseconds(13_500)))
        #expect(b.standing == Lease.Standing(holdsLease: false, holder: "a"))
    }

    @Test("the lease ends here before it ends in etcd, where the next daemon gets it")
    func margin() async {
        let (a, b) = (Lease.test("a", at: etcd), Lease.test("b", at: etcd))
        await a.hold()
        clock.advance(by: .milliseconds(13_499))
        #expect(a.mayPush)
        clock.advance(by: .milliseconds(1))
        #expect(!a.mayPush)
        #expect(await !b.hold())
        clock.advance(by: .milliseconds(1500))
        #expect(await b.hold())
        #expect(b.mayPush)
    }

    @Test("a renewal counts from when it was sent, not from when it was answered")
    func renewal() async {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        clock.advance(by: .seconds(5))
        etcd.onAnswer { [clock] _ in clock.advance(by: .seconds(4)) }
        _ = await a.step()
        #expect(a.standing.left == .milliseconds(9500))
        #expect(a.mayPush)
    }

    @Test("an acquisition counts from when the lease was asked for")
    func acquisition() async {
        let a = Lease.test("a", at: etcd)
        etcd.onAnswer { [clock] path in if path != "/v3/kv/range" { clock.advance(by: .seconds(3)) } }
        await a.hold()
        #expect(a.standing.left == .milliseconds(7500))
    }

    @Test("a renewal that is answered after the lease has ended here does not bring it back")
    func late() async {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        clock.advance(by: .seconds(10))
        etcd.onAnswer { [clock] _ in clock.advance(by: .seconds(4)) }
        _ = await a.step()
        #expect(!a.mayPush)
        #expect(!a.standing.holdsLease)
    }

    @Test("a lease that etcd does not have any more is lost before its time")
    func revoked() async {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        etcd.revokeAll()
        _ = await a.step()
        #expect(!a.mayPush)
        #expect(a.standing.error?.contains("does not have it") == true)
    }

    @Test("without an answer from etcd the lease lasts until its end, and is acquired again afterwards")
    func unreachable() async {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        for host in ["a", "b", "c"] { etcd.lose(host) }
        clock.advance(by: .seconds(5))
        _ = await a.step()
        #expect(a.mayPush)
        #expect(a.standing.error?.contains("cannot be reached") == true)
        clock.advance(by: .milliseconds(8500))
        _ = await a.step()
        #expect(!a.mayPush)
        for host in ["a", "b", "c"] { etcd.lose(host, false) }
        // Its own key is still there: the first step gives it back.
        _ = await a.step()
        #expect(await a.hold())
        #expect(a.standing.error == nil)
    }

    @Test("one member that answers is enough, and is asked first from then on")
    func members() async {
        let a = Lease.test("a", at: etcd)
        etcd.lose("a")
        etcd.lose("b")
        #expect(await a.hold())
        let before = etcd.hosts.count
        _ = await a.step()
        #expect(etcd.hosts[before...] == ["c"])
    }

    @Test("the daemon whose acquisition was answered by nobody gets the lease without waiting for its end")
    func lostAnswer() async {
        let a = Lease.test("a", at: etcd)
        etcd.loseAnswers("/v3/kv/txn", times: 3)
        #expect(await !a.hold())
        #expect(etcd.entries["shop/holder"] != nil)
        #expect(!a.mayPush)
        #expect(await !a.hold())
        #expect(await a.hold())
    }

    @Test("a holder whose clock stood still finds out by the fence that another daemon has taken over")
    func fence() async {
        let time = StoppableTime(clock)
        let (a, b) = (Lease.test("a", at: etcd, monotonic: { time.now }), Lease.test("b", at: etcd))
        await a.hold()
        #expect(await a.refusal() == nil)
        time.stop()
        clock.advance(by: .seconds(15))
        await b.hold()
        #expect(a.mayPush)
        #expect(await a.refusal() != nil)
        #expect(!a.mayPush)
        #expect(await b.refusal() == nil)
    }

    @Test("while etcd cannot say who holds the lease, no push begins, and the lease is not given up")
    func unknown() async {
        let a = Lease.test("a", at: etcd)
        await a.hold()
        for host in ["a", "b", "c"] { etcd.lose(host) }
        #expect(await a.refusal()?.contains("not known") == true)
        #expect(a.standing.holdsLease)
    }

    @Test("a lease that is given back is there for the next daemon at once")
    func release() async {
        let (a, b) = (Lease.test("a", at: etcd), Lease.test("b", at: etcd))
        await a.hold()
        await a.release()
        #expect(!a.mayPush)
        #expect(await b.hold())
    }

    @Test("nothing is pushed before what the former holder left has been taken over, however often that fails")
    func preparation() async {
        let a = Lease.test("a", at: etcd)
        let attempts = Counter()
        let began = Counter()
        let task = Task {
            await a.run(
                prepare: { _ in
                    #expect(!a.mayPush)
                    if attempts.next() < 3 { throw StandbyError.refused("no") }
                }, began: { _ = began.next() })
        }
        for _ in 1...2 { await clock.passSleep(of: .seconds(1)) }
        await clock.waitForSleepers(1)
        while !a.mayPush { await Task.yield() }
        while began.count == 0 { await Task.yield() }
        #expect(attempts.count == 3)
        task.cancel()
        await task.value
    }

    @Test("pushes that etcd held back go on with the next renewal")
    func goingOn() async {
        let a = Lease.test("a", at: etcd)
        let began = Counter()
        let task = Task { await a.run(prepare: { _ in }, began: { began.next() }) }
        while began.count < 1 { await Task.yield() }
        await clock.waitForSleepers(1)
        for host in ["a", "b", "c"] { etcd.lose(host) }
        #expect(await a.refusal() != nil)
        clock.advance(by: .seconds(5))
        await clock.waitForSleepers(1)
        #expect(began.count == 1)
        for host in ["a", "b", "c"] { etcd.lose(host, false) }
        clock.advance(by: .seconds(5))
        while began.count < 2 { await Task.yield() }
        await clock.waitForSleepers(1)
        #expect(began.count == 2)
        task.cancel()
        await task.value
    }

    @Test("only the holder stores how far hooks and reminders are, and the next one reads it")
    func deliveries() async throws {
        let (a, b) = (Lease.test("a", at: etcd), Lease.test("b", at: etcd))
        await a.hold()
        #expect(try await a.deliveries() == nil)
        try await a.store(deliveries: "1")
        await #expect(throws: StandbyError.notHolder) { try await b.store(deliveries: "2") }
        etcd.revokeAll()
        await b.hold()
        await #expect(throws: StandbyError.notHolder) { try await a.store(deliveries: "3") }
        #expect(try await b.deliveries() == "1")
    }

    @Test("a user signs in, and again when etcd has forgotten the token")
    func user() async {
        etcd.require(password: "secret")
        let a = Lease.test("a", at: etcd, user: EtcdGateway.User(name: "sync", password: "secret"))
        #expect(await a.hold())
        let b = Lease.test("b", at: etcd, user: EtcdGateway.User(name: "sync", password: "wrong"))
        #expect(await !b.hold())
        #expect(b.standing.error?.contains("authentication failed") == true)
        let c = Lease.test("c", at: etcd)
        #expect(await !c.hold())
        #expect(c.standing.error?.contains("user and password") == true)
    }
}
