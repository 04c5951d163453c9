import Synchronization

/// The memory that the bodies of all requests in flight may take together, or all answers that are not sent completely.
///
/// One holder may take half of it, so that others can still call.
final class BodyBudget: Sendable {
    private struct Use {
        var total = 0
        var held: [ConnectionHolder: Int] = [:]
    }

    private let limit: Int
    private let use = Mutex(Use())

    init(limit: Int) { self.limit = limit }

    /// Changes what one of them holds from `before` bytes to `after`. False when it wants more than is left; then
    /// nothing has changed. Without a `holder` it may take everything.
    func change(from before: Int, to after: Int, of holder: ConnectionHolder?) -> Bool {
        guard before != after else { return true }
        return use.withLock { use in
            let total = use.total + after - before
            let held = holder.map { use.held[$0, default: 0] + after - before } ?? 0
            // A single large answer may be more than half.
            guard after < before || total <= limit && (held <= limit / 2 || held == after) else { return false }
            use.total = total
            if let holder { use.held[holder] = held == 0 ? nil : held }
            return true
        }
    }
}
