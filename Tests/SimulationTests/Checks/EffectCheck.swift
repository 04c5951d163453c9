import EntitySchema

/// Checks, after each step, everything that the daemons changed upstream.
struct EffectCheck {
    let effects: [SimulatedServer.Effect]
    let world: World

    func run() throws {
        try world.check { try checkOnce() }
        try world.check { try checkOrder() }
    }

    /// Each marked value was applied once, with the exceptions of `isResolved` and `isRecreated`.
    private func checkOnce() throws {
        var seen: [String: SimulatedServer.Effect] = [:]
        for effect in effects {
            // Other users' values arrive only when a deleted record is created again.
            for marker in effect.markers where Ledger.number(of: marker) != nil {
                if let first = seen[marker], !isRecreated(effect, marker), !isResolved(effect) {
                    throw Violation(
                        rule: .onlyOnce, detail: "\(marker) was applied to \(first.key) and again to \(effect.key)")
                }
                seen[marker] = effect
            }
        }
    }

    /// An edit whose answer was lost is compared with another user's later edit and may win again. It is then sent whole,
    /// including the values that were not overwritten.
    private func isResolved(_ effect: SimulatedServer.Effect) -> Bool {
        effect.operation == .update && !effect.markers.allSatisfy(effect.replaced.contains)
    }

    /// An edit may win over a deletion: it then creates the record again with all its values. And without idempotency
    /// keys, a creation whose answer was lost is looked up by its values, which another user may have changed since.
    private func isRecreated(_ effect: SimulatedServer.Effect, _ marker: String) -> Bool {
        guard effect.operation == .create else { return false }
        let cannotBeFound = !world.server.settings.idempotency && !effect.overwritten.isEmpty
        return effect.vanished.contains(marker) || cannotBeFound
    }

    /// The edits of one record by one daemon arrive in the order in which they were written.
    private func checkOrder() throws {
        var latest: [String: (number: Int, markers: [String])] = [:]
        for effect in effects where !effect.markers.isEmpty {
            let numbers = effect.markers.compactMap(Ledger.number(of:))
            let record = "d\(effect.daemon) \(effect.entity)/\(effect.key)"
            if let before = latest[record], let least = numbers.min(), least < before.number {
                throw Violation(
                    rule: .inOrder, detail: "\(record): \(effect.markers) arrived after \(before.markers)")
            }
            latest[record] = (numbers.max() ?? 0, effect.markers)
        }
    }
}
