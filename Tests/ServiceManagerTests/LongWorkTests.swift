import ServiceManager
import Synchronization
import TestSupport
import Testing

@Suite("Long work")
struct LongWorkTests {
    @Test("the timeout is extended immediately, then every five seconds, and only while work progresses")
    func patience() throws {
        let socket = try NotifySocket()
        let now = Mutex(Duration.seconds(100))
        let work = LongWork(
            "migrating", notifier: ServiceNotifier(environment: ["NOTIFY_SOCKET": socket.name]),
            monotonic: { now.withLock { $0 } })
        let asked = "STATUS=migrating\nEXTEND_TIMEOUT_USEC=60000000\nWATCHDOG=1"
        #expect(socket.next() == nil)
        #expect(work.shouldContinue())
        #expect(socket.next() == asked)
        now.withLock { $0 += .milliseconds(4999) }
        #expect(work.shouldContinue())
        #expect(socket.next() == nil)
        now.withLock { $0 += .milliseconds(1) }
        #expect(work.shouldContinue())
        #expect(socket.next() == asked)
        work.note("orders, 45 %")
        now.withLock { $0 += .seconds(5) }
        #expect(work.shouldContinue())
        #expect(socket.next()?.hasPrefix("STATUS=migrating: orders, 45 %\n") == true)
    }

    @Test("cancelled work should stop and no longer extends the timeout")
    func cancelled() throws {
        let socket = try NotifySocket()
        let work = LongWork(
            "migrating", notifier: ServiceNotifier(environment: ["NOTIFY_SOCKET": socket.name]), monotonic: { .zero })
        work.cancel()
        #expect(!work.shouldContinue())
        #expect(socket.next() == nil)
    }
}
