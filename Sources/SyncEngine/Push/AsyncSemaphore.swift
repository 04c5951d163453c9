internal import Synchronization

/// Limits the number of changes in flight. A change takes a slot before it is begun and gives it back when it is
/// answered, so that the next one is on its way while the outcome is stored.
final class AsyncSemaphore: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    /// Waits for a free slot, in turn. Cancelling the task does not end the wait; a returned slot does.
    func take() async -> Slot {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
        return Slot(of: self)
    }

    private func takeBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }

    final class Slot: Sendable {
        private let slots: AsyncSemaphore
        private let isGiven = Mutex(false)

        fileprivate init(of slots: AsyncSemaphore) {
            self.slots = slots
        }

        /// Idempotent.
        func give() {
            let isFirst = isGiven.withLock { isGiven in
                defer { isGiven = true }
                return !isGiven
            }
            if isFirst { slots.takeBack() }
        }
    }
}
