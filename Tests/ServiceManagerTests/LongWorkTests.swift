import ServiceManager
import Synchronization
import TestSupport
import Testing

@Suite("Long work")
struct LongWorkTests {
    @Test("the service manager is asked for patience at once, then every five seconds, and only while work goes on")
    func patience() throws {
        let socket = try NotifySocket()
        let now = Mutex(Duration.seconds(100))
        let work = LongWork(
            "migrating", notifier: ServiceNotifier(environment: ["NOTIFY_SOCKET": socket.name]),
            monotonic: { now.withLock { $0 } })
        let asked = "STATUS=migrating\nEXTEND_TIMEOUT_USEC=60000000\nWATCHDOG=1"
        #expect(socket.next() == nil)
        #expect(work.goesOn())
        #expect(socket.next() == asked)
        now.withLock { $0 += .milliseconds(4999) }
        #expect(work.goesOn())
        #expect(socket.next() == nil)
        now.withLock { $0 += .milliseconds(1) }
        #expect(work.goesOn())
        #expect(socket.next() == asked)
    }

    @Test("cancelled, it is to be given up, and nobody is asked for patience any more")
    func cancelled() throws {
        let socket = try NotifySocket()
        let work = LongWork(
            "migrating", notifier: ServiceNotifier(environment: ["NOTIFY_SOCKET": socket.name]), monotonic: { .zero })
        work.cancel()
        #expect(!work.goesOn())
        #expect(socket.next() == nil)
    }
}
