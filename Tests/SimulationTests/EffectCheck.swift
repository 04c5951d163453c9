import EntitySchema

/// What must hold of all that daemons have done to the upstream, at every moment.
struct EffectCheck {
    let effects: [SimulatedServer.Effect]
    let world: World

    func run() throws {
        try world.check { try checkOnce() }
        try world.check { try checkOrder() }
    }

    /// Each marked value has been brought once; where only repeating an edit could be told from it, a creation.
    private func checkOnce() throws {
        var seen: [String: SimulatedServer.Effect] = [:]
        for effect in effects {
            // What other people wrote is brought only by who makes a deleted record anew.
            for marker in effect.markers where Ledger.number(of: marker) != nil {
                if let first = seen[marker], !isMadeAnew(effect, marker), !isDecided(effect) {
                    throw Violation(
                        rule: .onlyOnce, detail: "\(marker) was applied to \(first.key) and again to \(effect.key)")
                }
                seen[marker] = effect
            }
        }
    }

    /// Without idempotency keys an edit whose answer was lost is weighed against what somebody else has written over it
    /// since, and may win again; whole, with what nobody wrote over.
    private func isDecided(_ effect: SimulatedServer.Effect) -> Bool {
        effect.operation == .update && !world.server.variety.idempotency
            && !effect.markers.allSatisfy(effect.replaced.contains)
    }

    /// An edit may win over a deletion: then it makes the record anew, with all that it was. And without idempotency keys
    /// a creation whose answer was lost is looked up by what it said, which somebody may have changed since.
    private func isMadeAnew(_ effect: SimulatedServer.Effect, _ marker: String) -> Bool {
        guard effect.operation == .create else { return false }
        let cannotBeFound = !world.server.variety.idempotency && !effect.overwritten.isEmpty
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
