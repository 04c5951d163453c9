internal import Synchronization

/// Whether someone has paused syncing. Engines that run one after the other share it, so a pause outlasts each of them.
package final class SyncPause: Sendable {
    private let flag = Mutex(false)

    package init() {}

    var isOn: Bool {
        get { flag.withLock { $0 } }
        set { flag.withLock { $0 = newValue } }
    }
}
