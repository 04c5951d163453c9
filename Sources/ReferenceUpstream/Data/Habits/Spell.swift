internal import EntitySchema

/// When something happens that lasts for a while.
package struct Spell: Sendable, Equatable {
    /// From when the habits were set.
    package var after: Duration = .zero
    package var lasts: Duration
    /// From one beginning to the next; nil when it happens once.
    package var every: Duration?

    /// Which occurrence is under way, from 0; nil when none is.
    func occurrence(at time: Duration) -> Int? {
        let (time, length) = ((time - after).milliseconds, lasts.milliseconds)
        guard time >= 0 else { return nil }
        guard let every = every?.milliseconds, every > 0 else { return time < length ? 0 : nil }
        return time % every < length ? Int(time / every) : nil
    }
}
