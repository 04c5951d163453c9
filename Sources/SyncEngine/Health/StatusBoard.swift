internal import EntitySchema
internal import Synchronization

/// What the parts of an engine last said of themselves, for those who read the status: a read needs no turn of the engine, so
/// it is answered at once.
///
/// Each part notes its own state whenever it changes. Where two parts change in one step, a reader may see the first without
/// the second.
final class StatusBoard: Sendable {
    struct Notes {
        var run = SyncRun()
        var nextSyncAt: Timestamp?
        var isPushing = false
        var breaker = CircuitBreaker()
        var bar = AccountBar()
    }

    private let kept = Mutex(Notes())

    var notes: Notes { kept.withLock(\.self) }

    func note(_ change: (inout Notes) -> Void) { kept.withLock { change(&$0) } }
}
