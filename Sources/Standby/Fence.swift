internal import Synchronization
internal import Upstream

/// What one change passes right before it is sent.
final class Fence: Sendable {
    private let lease: Lease
    private let revision: Int64
    private let state = Mutex(false)

    /// `revision` is of the lease that was held when the change began.
    init(_ lease: Lease, _ revision: Int64) {
        self.lease = lease
        self.revision = revision
    }

    /// Whether the change may have been sent.
    var isPassed: Bool { state.withLock { $0 } }

    /// Throws `.held` if the change must not be sent.
    func pass() async throws(UpstreamError) {
        if let refusal = await lease.refusal(under: revision) {
            if Task.isCancelled { throw .cancelled }
            throw .held(refusal)
        }
        state.withLock { $0 = true }
    }
}
