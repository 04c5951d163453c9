import Synchronization
import TestSupport
import Testing

@testable import Standby

/// Writers, pushes, crashes, cuts and takeovers of two daemons at random.
struct TakeoverScheduleTests {
    private final class Daemon {
        let queue = ModelQueue()
        let name: String
        var lease: Lease
        var store: QueueStore

        init(_ name: String, _ etcd: FakeEtcd) {
            self.name = name
            lease = Lease.test(name, at: etcd, isSync: true)
            store = queue.store(lease)
        }

        /// Dies and starts again, with the same database.
        func restart(_ etcd: FakeEtcd, _ session: Int) {
            lease = Lease.test(name, at: etcd, session: "\(name)-\(session)", isSync: true)
            store = queue.store(lease)
            pending = nil
        }

        var pending: (revision: Int64, last: Lease.Last)?

        /// One step of competing for the lease, and of taking over.
        func step() async {
            if let acquired = await lease.step() { pending = acquired }
            guard let acquired = pending, lease.valid?.revision == acquired.revision else { return }
            do {
                try await queue.prepare(store, acquired.last)
                lease.prepared(acquired.revision)
                pending = nil
            } catch {
                // The next step tries again.
            }
        }
    }

    /// What the upstream got, and how often.
    private struct Upstream {
        var applied: [String: Int] = [:]
        /// Applied, and known to be by a daemon whose settlement is stored.
        var settled: Set<String> = []
    }

    @Test(
        "nothing acknowledged is lost, and nothing is sent twice without a mark that it may have been",
        arguments: 0..<40)
    func schedule(_ number: UInt64) async throws {
        var random = SeededRandom(seed: TestRun.seed &+ number)
        let clock = ManualClock()
        let etcd = FakeEtcd(clock)
        let daemons = [Daemon("a", etcd), Daemon("b", etcd)]
        var (upstream, acknowledged, session, takeovers) = (Upstream(), Set<String>(), 0, 0)
        for step in 0..<400 {
            let daemon = daemons[random.below(2)]
            for host in ["a", "b", "c"] { etcd.lose(host, random.below(5) == 0) }
            if random.below(15) == 0 { etcd.loseAnswers("/v3/kv/txn", times: 1 + random.below(3)) }
            switch random.below(10) {
            case 0...2:
                let had = daemon.lease.mayPush
                await daemon.step()
                if !had, daemon.lease.mayPush { takeovers += 1 }
            case 3...5 where daemon.lease.mayPush:
                daemon.queue.append("w\(step)")
                if (try? await daemon.store.store()) != nil { acknowledged.insert("w\(step)") }
            case 6...8 where daemon.lease.mayPush:
                await push(daemon, &upstream, &random)
            case 9 where random.below(3) == 0:
                session += 1
                daemon.restart(etcd, session)
            default: clock.advance(by: .milliseconds(random.below(6000)))
            }
        }
        try await drain(daemons, etcd, &upstream, &random)
        #expect(acknowledged.subtracting(upstream.applied.keys).isEmpty, "seed \(random.seed)")
        #expect(takeovers > 2, "seed \(random.seed)")
    }

    /// One push as the daemon makes it: noted, stored, fenced, sent; then its settlement may get lost in a crash.
    private func push(_ daemon: Daemon, _ upstream: inout Upstream, _ random: inout SeededRandom) async {
        guard let change = daemon.queue.changes.first else { return }
        daemon.queue.mark(change.id)
        guard (try? await daemon.store.store()) != nil, await daemon.lease.refusal() == nil else { return }
        #expect(!upstream.settled.contains(change.key), "\(change.key) is sent again, seed \(random.seed)")
        #expect(
            change.isTried || upstream.applied[change.key] == nil, "\(change.key) was not marked, seed \(random.seed)")
        upstream.applied[change.key, default: 0] += 1
        guard random.below(6) > 0 else { return }
        daemon.queue.remove(change.id)
        if (try? await daemon.store.store()) != nil { upstream.settled.insert(change.key) }
    }

    private func drain(
        _ daemons: [Daemon], _ etcd: FakeEtcd, _ upstream: inout Upstream, _ random: inout SeededRandom
    ) async throws {
        for host in ["a", "b", "c"] { etcd.lose(host, false) }
        etcd.loseAnswers("/v3/kv/txn", times: 0)
        for _ in 0..<20 {
            etcd.clock.advance(by: .seconds(2))
            for daemon in daemons { await daemon.step() }
        }
        let holder = try #require(daemons.first { $0.lease.mayPush }, "seed \(random.seed)")
        for _ in 0..<1000 where !holder.queue.changes.isEmpty {
            if let left = holder.lease.standing.left, left < .seconds(5) { await holder.step() }
            await push(holder, &upstream, &random)
        }
        #expect(holder.queue.changes.isEmpty, "seed \(random.seed)")
    }
}
