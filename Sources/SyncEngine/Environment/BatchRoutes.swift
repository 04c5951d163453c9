internal import EntitySchema
internal import Synchronization

/// What this process has learnt about the upstream's batch routes: which ones it does not take, how many changes it takes
/// at a time, and which changes it refused together with others.
///
/// Such a refusal applied nothing, so the changes go out one by one. Batches are tried again after a while.
final class BatchRoutes: Sendable {
    private struct Limit {
        /// The most changes; fewer than two close the route.
        var size: Int
        var until: Timestamp
        var reason: String
    }

    private struct State {
        /// By the route's method and path.
        var limits: [String: Limit] = [:]
        var alone: Set<Int64> = []
    }

    private let state = Mutex(State())

    /// How long a route stays closed.
    static let pause = Duration.seconds(600)

    /// How many changes may go out together now; fewer than two if none may.
    func size(of plan: BatchPlan, at now: Timestamp) -> Int {
        state.withLock { state in
            guard let limit = state.limits[plan.call] else { return plan.size }
            guard limit.until > now else {
                state.limits[plan.call] = nil
                return plan.size
            }
            return min(plan.size, limit.size)
        }
    }

    /// The upstream refused a batch. Returns whether the route was open before.
    func limit(_ plan: BatchPlan, to size: Int, _ reason: String, at now: Timestamp) -> Bool {
        state.withLock { state in
            let known = state.limits.updateValue(
                Limit(size: size, until: now + Self.pause, reason: reason), forKey: plan.call)
            return known == nil
        }
    }

    /// These changes go out one by one at the next attempt.
    func sendAlone(_ changes: [Int64]) { state.withLock { $0.alone.formUnion(changes) } }

    func isAlone(_ change: Int64) -> Bool { state.withLock { $0.alone.contains(change) } }

    /// A change was sent by itself.
    func noteSent(_ change: Int64) { _ = state.withLock { $0.alone.remove(change) } }

    /// Why changes go out one by one, or fewer at a time; nil while all routes are open.
    func restriction(at now: Timestamp) -> String? {
        state.withLock { state in
            state.limits.filter { $0.value.until > now }.sorted { $0.key < $1.key }.first.map { call, limit in
                let how =
                    limit.size < 2 ? "changes are sent one by one" : "at most \(limit.size) changes are sent at a time"
                return "\(how), because \(limit.reason)"
            }
        }
    }
}
