import TestSupport
import Testing

@testable import Standby

/// Two daemons through losses, delays and restarts at random.
struct HolderScheduleTests {
    @Test("two daemons never hold the lease at once, whatever is lost or late", arguments: 0..<50)
    func schedule(_ number: UInt64) async {
        var random = SeededRandom(seed: TestRun.seed &+ number)
        let clock = ManualClock()
        let etcd = FakeEtcd(clock)
        var leases = [Lease.test("a", at: etcd), Lease.test("b", at: etcd)]
        var (acquired, restarts) = (0, 0)
        for _ in 0..<300 {
            let index = random.below(2)
            let delay = random.below(6) == 0 ? random.below(9000) : random.below(200)
            etcd.onAnswer { _ in clock.advance(by: .milliseconds(delay)) }
            if random.below(8) == 0 {
                etcd.loseAnswers(random.pick(["/v3/kv/txn", "/v3/lease/keepalive"]) ?? "", times: 3)
            }
            for host in ["a", "b", "c"] { etcd.lose(host, random.below(4) == 0) }
            if random.below(12) == 0 {
                restarts += 1
                leases[index] = Lease.test(["a", "b"][index], at: etcd, session: "restart-\(restarts)")
            } else {
                if await leases[index].hold() { acquired += 1 }
            }
            let holders = leases.filter(\.mayPush)
            #expect(holders.count < 2, "seed \(random.seed)")
            // Whoever may push is the one in etcd.
            for holder in holders {
                #expect(
                    etcd.entries["shop/holder"]?.created == holder.valid.map { Int($0.revision) }, "seed \(random.seed)"
                )
            }
            clock.advance(by: .milliseconds(random.below(6000)))
            #expect(leases.count(where: \.mayPush) < 2, "seed \(random.seed)")
        }
        #expect(acquired > 3, "seed \(random.seed)")
    }
}
