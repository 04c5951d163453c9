internal import Synchronization

/// What one large answer holds of the memory for answers, until it is released or dropped.
///
/// Release it before you wait for another answer: else the two may wait for each other for ever.
package final class AnswerShare: Sendable, Equatable {
    private let held: Mutex<Int>
    private let giveBack: @Sendable (Int) -> Void

    /// `giveBack` takes a number of bytes, on any thread.
    init(_ bytes: Int, giveBack: @escaping @Sendable (Int) -> Void) {
        held = Mutex(bytes)
        self.giveBack = giveBack
    }

    deinit { shrink(to: 0) }

    /// Idempotent.
    package func release() { shrink(to: 0) }

    /// Gives back what is more than `bytes`.
    func shrink(to bytes: Int) {
        let surplus = held.withLock { held in
            let surplus = max(0, held - bytes)
            held -= surplus
            return surplus
        }
        if surplus > 0 { giveBack(surplus) }
    }

    package static func == (one: AnswerShare, other: AnswerShare) -> Bool { one === other }
}
