import TestSupport
import Testing

@testable import Standby

/// A daemon that has the lease and cannot take over what the former holder left.
struct GivingUpTests {
    private let clock: ManualClock
    private let etcd: FakeEtcd
    private let a: Lease

    init() {
        clock = ManualClock()
        etcd = FakeEtcd(clock)
        a = Lease.test("a", at: etcd)
    }

    /// Competes for the lease; taking over fails as often as `failures` says.
    private func run(failures: Int = .max) -> Task<Void, Never> {
        let attempts = Counter()
        return Task { [a] in
            await a.run(
                prepare: { _ in if attempts.next() <= failures { throw StandbyError.refused("the disk is full") } },
                began: {})
        }
    }

    /// Passes the time for which `a` goes on trying: one lease, a second at a time.
    private func passHolding() async {
        for _ in 1...15 {
            await clock.waitForSleepers(2)
            #expect(a.standing.holdsLease)
            clock.advance(by: .seconds(1))
        }
        while a.standing.holdsLease || etcd.entries["shop/holder"] != nil { await Task.yield() }
    }

    /// Passes a pause of so many looks at the lease; none but the last may take it.
    private func passPause(looks: Int) async {
        for _ in 1...looks {
            await clock.waitForSleepers(1)
            #expect(!a.standing.holdsLease)
            clock.advance(by: .seconds(5))
        }
        while !a.standing.holdsLease { await Task.yield() }
    }

    @Test("a daemon that cannot take over for as long as a lease lasts leaves it to the other one, and says why")
    func leaving() async {
        let b = Lease.test("b", at: etcd)
        let task = run()
        await passHolding()
        #expect(a.standing.error?.contains("the disk is full") == true)
        #expect(await b.hold())
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        while a.standing.holder != "b" { await Task.yield() }
        #expect(a.standing.error?.contains("the disk is full") == true)
        task.cancel()
        await task.value
    }

    @Test("where no other daemon takes it, it tries again after a pause that doubles")
    func pauses() async {
        let task = run()
        await passHolding()
        await passPause(looks: 3)
        await passHolding()
        await passPause(looks: 6)
        task.cancel()
        await task.value
    }

    @Test("the pause ends at sixteen leases")
    func longest() {
        var setback = Setback(reason: "the disk is full")
        #expect(
            (0...6).map { _ in setback.giveUp(.seconds(1), at: .zero) }
                == [1, 2, 4, 8, 16, 16, 16].map { .seconds($0) })
    }

    @Test("a daemon that can take over in the end has no error any more")
    func success() async {
        let task = run(failures: 16)
        await passHolding()
        await passPause(looks: 3)
        while !a.mayPush { await Task.yield() }
        #expect(a.standing.error == nil)
        task.cancel()
        await task.value
    }

    @Test("the reason stays while renewals succeed")
    func reason() async {
        let task = run()
        for _ in 1...6 {
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
        }
        await clock.waitForSleepers(2)
        #expect(a.standing.holdsLease)
        #expect(a.standing.error?.contains("the disk is full") == true)
        task.cancel()
        await task.value
    }
}
