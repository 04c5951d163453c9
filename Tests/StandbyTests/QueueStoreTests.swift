import TestSupport
import Testing

@testable import Standby

struct QueueStoreTests {
    private let clock: ManualClock
    private let etcd: FakeEtcd
    private let queue = ModelQueue()

    init() {
        clock = ManualClock()
        etcd = FakeEtcd(clock)
    }

    /// What etcd has of the queue, by key.
    private var stored: [String: String] {
        let prefix = "shop/queue/"
        let entries = etcd.entries.filter { $0.key.hasPrefix(prefix) }
        return Dictionary(
            uniqueKeysWithValues: entries.map { (String($0.key.dropFirst(prefix.count)), $0.value.value) })
    }

    /// A daemon that holds the lease and has taken over.
    private func holder(_ name: String = "a", _ queue: ModelQueue? = nil) async throws -> (Lease, QueueStore) {
        let lease = Lease.test(name, at: etcd, isSync: true)
        let acquired = try #require(await lease.step())
        let queue = queue ?? self.queue
        let store = queue.store(lease)
        try await queue.prepare(store, acquired.last)
        lease.prepared(acquired.revision)
        return (lease, store)
    }

    private var transactions: Int { etcd.paths.count { $0 == "/v3/kv/txn" } }

    @Test("a change is one key, which follows the change and goes with it")
    func oneKey() async throws {
        let (_, store) = try await holder()
        let id = queue.append("k1")
        queue.append("k2")
        try await store.store()
        #expect(stored == ["k1": "k1 new", "k2": "k2 new"])
        queue.mark(id)
        try await store.store()
        #expect(stored == ["k1": "k1 tried", "k2": "k2 new"])
        queue.remove(id)
        try await store.store()
        #expect(stored == ["k2": "k2 new"])
    }

    @Test("the queue is full while its texts have more bytes than they may")
    func full() async throws {
        let lease = Lease.test("a", at: etcd, isSync: true)
        let acquired = try #require(await lease.step())
        let first = queue.append("k1")
        queue.append("k2")
        // Each has six bytes.
        let store = queue.store(lease, most: 12)
        try await queue.prepare(store, acquired.last)
        lease.prepared(acquired.revision)
        #expect(!store.isFull)
        queue.append("k3")
        try await store.store()
        #expect(store.isFull)
        queue.remove(first)
        try await store.store()
        #expect(!store.isFull)
    }

    @Test("without news nothing is asked of etcd")
    func nothing() async throws {
        let (_, store) = try await holder()
        queue.append("k1")
        try await store.store()
        let before = etcd.paths.count
        try await store.store()
        #expect(etcd.paths.count == before)
    }

    @Test("a change with a new idempotency key leaves none under the old one")
    func newKey() async throws {
        let (_, store) = try await holder()
        let id = queue.append("k1")
        try await store.store()
        queue.rename(id, to: "k2")
        try await store.store()
        #expect(stored == ["k2": "k2 new"])
    }

    @Test("a change that leaves the queue without a step in the log goes all the same")
    func unlogged() async throws {
        let (_, store) = try await holder()
        let id = queue.append("k1")
        try await store.store()
        queue.removeWithoutStep(id)
        queue.append("k2")
        try await store.store()
        #expect(stored == ["k2": "k2 new"])
    }

    @Test("an edit that the log lacks is stored before long")
    func unloggedEdit() async throws {
        let (_, store) = try await holder()
        let id = queue.append("k1")
        try await store.store()
        queue.markWithoutStep(id)
        for _ in 1...100 { try await store.store() }
        #expect(stored == ["k1": "k1 tried"])
    }

    @Test("many writes at once share their transactions, and each is stored when its own call returns")
    func shared() async throws {
        let (_, store) = try await holder()
        let before = transactions
        await withTaskGroup(of: Void.self) { group in
            for number in 1...40 {
                group.addTask {
                    queue.append("k\(number)")
                    do {
                        try await store.store()
                        #expect(stored["k\(number)"] != nil)
                    } catch {
                        #expect(Bool(false), "\(error)")
                    }
                }
            }
        }
        #expect(stored.count == 40)
        #expect(transactions - before < 40)
    }

    @Test("a long queue is stored in several transactions, and read back whole")
    func long() async throws {
        let (a, store) = try await holder()
        let before = transactions
        for number in 1...450 { queue.append("k\(number)") }
        try await store.store()
        #expect(stored.count == 450)
        #expect(transactions - before == 5)
        await a.release()
        let other = ModelQueue()
        _ = try await holder("b", other)
        #expect(other.changes.count == 450)
    }

    @Test("a former holder can neither add nor remove anything")
    func fence() async throws {
        let time = StoppableTime(clock)
        let lease = Lease.test("a", at: etcd, isSync: true, monotonic: { time.now })
        let acquired = try #require(await lease.step())
        let store = queue.store(lease)
        try await queue.prepare(store, acquired.last)
        let id = queue.append("k1")
        try await store.store()
        time.stop()
        clock.advance(by: .seconds(15))
        let other = ModelQueue()
        _ = try await holder("b", other)
        #expect(other.changes.map(\.key) == ["k1"])
        queue.remove(id)
        queue.append("k2")
        await #expect(throws: StandbyError.notHolder) { try await store.store() }
        #expect(stored == ["k1": "k1 new"])
        #expect(!lease.mayPush)
    }

    @Test("a change whose storing was not answered is stored again, and removed when it has left the queue")
    func lostAnswer() async throws {
        let (_, store) = try await holder()
        let id = queue.append("k1")
        etcd.loseAnswers("/v3/kv/txn", times: 3)
        await #expect(throws: StandbyError.self) { try await store.store() }
        #expect(stored == ["k1": "k1 new"])
        queue.remove(id)
        try await store.store()
        #expect(stored.isEmpty)
    }

    @Test("a transaction that a stopped member carries out late brings nothing back")
    func late() async throws {
        let (_, store) = try await holder()
        let id = queue.append("k1")
        try await store.store()
        queue.remove(id)
        try await store.store()
        #expect(stored.isEmpty)
        etcd.repeatTransaction(with: "k1 new")
        #expect(stored.isEmpty)
    }

    @Test("without a majority nothing counts as stored")
    func majority() async throws {
        let (_, store) = try await holder()
        for host in ["a", "b", "c"] { etcd.lose(host) }
        queue.append("k1")
        await #expect(throws: StandbyError.self) { try await store.store() }
        for host in ["a", "b", "c"] { etcd.lose(host, false) }
        try await store.store()
        #expect(stored == ["k1": "k1 new"])
    }

    @Test("who takes over gets the others' changes in place of its own, which were settled or never acknowledged")
    func takeOver() async throws {
        let (a, store) = try await holder()
        queue.append("k1")
        try await store.store()
        await a.release()
        let other = ModelQueue()
        other.append("left")
        let (b, otherStore) = try await holder("b", other)
        #expect(other.changes.map(\.key) == ["k1"])
        // The second daemon settles it, so the first must not send it again.
        other.remove(other.changes[0].id)
        try await otherStore.store()
        await b.release()
        _ = try await holder()
        #expect(queue.changes.isEmpty)
    }

    @Test("a daemon that nobody replaced keeps its queue, and stores what etcd lacks of it")
    func restart() async throws {
        let (a, store) = try await holder()
        queue.append("k1")
        let settled = queue.append("k2")
        try await store.store()
        await a.release()
        queue.remove(settled)
        queue.append("k3")
        _ = try await holder()
        #expect(queue.changes.map(\.key) == ["k1", "k3"])
        #expect(stored == ["k1": "k1 new", "k3": "k3 new"])
    }

    @Test("a daemon whose file was put back to an older state takes back what only etcd has")
    func putBack() async throws {
        let (a, store) = try await holder()
        queue.append("k1")
        let lost = queue.append("k2")
        try await store.store()
        await a.release()
        queue.forget(lost)
        _ = try await holder()
        #expect(queue.changes.map(\.key) == ["k1", "k2"])
        #expect(stored == ["k1": "k1 new", "k2": "k2 new"])
    }

    @Test("after etcd was restored from an old copy, a daemon keeps what it had stored there since")
    func oldCopy() async throws {
        let (b, _) = try await holder("b", ModelQueue())
        await b.release()
        let copy = etcd.copy
        let (a, store) = try await holder()
        queue.append("k1")
        try await store.store()
        await a.release()
        etcd.restore(copy)
        _ = try await holder()
        #expect(queue.changes.map(\.key) == ["k1"])
        #expect(stored == ["k1": "k1 new"])
    }

    @Test("in another cluster, a daemon keeps its queue although another one was there first")
    func otherCluster() async throws {
        let (a, store) = try await holder()
        queue.append("k1")
        try await store.store()
        await a.release()
        etcd.restore(nil)
        let other = ModelQueue()
        for _ in 1...20 { etcd.put("other", "x") }
        let (b, _) = try await holder("b", other)
        await b.release()
        _ = try await holder()
        #expect(queue.changes.map(\.key) == ["k1"])
    }

    @Test("a daemon of another account, or of one that is not known yet, takes nothing over", arguments: ["two", nil])
    func otherAccount(account: String?) async throws {
        let a = Lease.test("a", at: etcd, isSync: true)
        var last = try #require(await a.step()).last
        last.own.account = "one"
        queue.append("k1")
        try await queue.prepare(queue.store(a), last)
        await a.release()
        let (b, other) = (Lease.test("b", at: etcd, isSync: true), ModelQueue())
        last = try #require(await b.step()).last
        last.own.account = account
        let (store, refused) = (other.store(b), last)
        await #expect(throws: StandbyError.self) { try await other.prepare(store, refused) }
        #expect(other.changes.isEmpty && stored == ["k1": "k1 new"])
        last.own.account = "one"
        try await other.prepare(store, last)
        #expect(other.changes.map(\.key) == ["k1"])
    }

    @Test("the first daemon of all stores the queue that it had before")
    func first() async throws {
        queue.append("k1")
        _ = try await holder()
        #expect(queue.changes.map(\.key) == ["k1"])
        #expect(stored == ["k1": "k1 new"])
    }

    @Test("a takeover that fails leaves everything for the next attempt")
    func failed() async throws {
        let (a, store) = try await holder()
        queue.append("k1")
        try await store.store()
        await a.release()
        let (b, other) = (Lease.test("b", at: etcd, isSync: true), ModelQueue())
        let last = try #require(await b.step()).last
        await #expect(throws: StandbyError.refused("disk full")) {
            _ = try await other.store(b).prepare(last, known: nil) { _, _ in throw StandbyError.refused("disk full") }
        }
        #expect(stored == ["k1": "k1 new"])
        await b.release()
        // It crashed before it had anything, so its empty queue is not worth more than what etcd has.
        _ = try await holder("b", other)
        #expect(other.changes.map(\.key) == ["k1"])
    }

    @Test("a change that etcd cannot hold keeps no other from being stored")
    func tooLarge() async throws {
        let lease = Lease.test("a", at: etcd, isSync: true)
        let acquired = try #require(await lease.step())
        let told = Counter()
        let store = queue.store(lease) { _ in told.next() }
        _ = try await store.prepare(acquired.last, known: nil) { _, _ in }
        queue.append(String(repeating: "x", count: 1_400_000))
        queue.append("k1")
        try await store.store()
        #expect(stored == ["k1": "k1 new"])
        #expect(told.count == 1)
    }
}
