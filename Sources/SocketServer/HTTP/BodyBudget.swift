import Synchronization

/// The memory that the bodies of all requests in flight may take together, or what is left to send of all answers.
final class BodyBudget: Sendable {
    private let limit: Int
    private let used = Atomic<Int>(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Changes what one of them holds from `before` bytes to `after`. False when it wants more than is left; then
    /// nothing has changed.
    func change(from before: Int, to after: Int) -> Bool {
        let total = used.wrappingAdd(after - before, ordering: .relaxed).newValue
        guard after > before, total > limit else { return true }
        used.wrappingSubtract(after - before, ordering: .relaxed)
        return false
    }
}
