import Logging
import Synchronization
import TestSupport

@testable import Standby

extension Lease {
    /// A daemon's lease of 15 s at a cluster of three members.
    static func test(
        _ name: String, at etcd: FakeEtcd, session: String? = nil, database: String? = nil, isSync: Bool = false,
        monotonic: (@Sendable () -> Duration)? = nil, user: EtcdGateway.User? = nil
    ) -> Lease {
        let settings = StandbySettings(
            members: ["http://a", "http://b", "http://c"], key: "shop", ttl: .seconds(15), isSync: isSync, name: name)
        let clock = etcd.clock
        return Lease(
            settings, gateway: EtcdGateway(settings, user: user, transport: etcd), session: session ?? name,
            database: database ?? name, clock: clock, monotonic: monotonic ?? { clock.now.offset },
            log: .silent)
    }

    /// Acquires it, with nothing to take over.
    @discardableResult
    func hold() async -> Bool {
        guard let acquired = await step() else { return false }
        prepared(acquired.revision)
        return true
    }

    /// Why no push may begin now.
    func refusal() async -> String? { await refusal(under: valid?.revision ?? 0) }
}

/// A monotonic clock that a test can stop, as a stopped virtual machine does.
final class StoppableTime: Sendable {
    private let clock: ManualClock
    private let stopped = Mutex<Duration?>(nil)

    init(_ clock: ManualClock) { self.clock = clock }

    var now: Duration { stopped.withLock { $0 } ?? clock.now.offset }

    func stop() { stopped.withLock { $0 = clock.now.offset } }
}
