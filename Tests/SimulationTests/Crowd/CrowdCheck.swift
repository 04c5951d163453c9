import EntitySchema
import JSONText

@testable import CacheStore

/// What must hold of many daemons together at the end, besides what `FinalCheck` checks of each.
struct CrowdCheck {
    let world: World

    private var policy: ConflictPolicy { world.settings.policy }

    func run() throws {
        try world.check { try checkQueues() }
        try world.check { try checkCreations() }
        try world.check { try checkDecisions() }
    }

    /// Only changes that wait for a person are queued, and edits behind a creation that does.
    private func checkQueues() throws {
        for daemon in world.daemons {
            guard let store = daemon.life?.store else { continue }
            let reader = CacheReader(store: store)
            let stuck = try reader.stuckChanges()
            let changes = try reader.changes()
            let refused = changes.filter { $0.operation == .create && mayWait($0) }.map(\.key)
            for change in changes where !stuck.contains(change.id) || !(mayWait(change) || refused.contains(change.key))
            {
                throw Violation(
                    rule: .equalInTheEnd,
                    detail: """
                        d\(daemon.number) still has \(change.operation) \(change.entity)/\(change.key), \(change.state): \
                        \(change.error ?? "")
                        """)
            }
        }
    }

    /// Where this upstream does not choose the keys, two daemons cannot both create a deleted record again. The second is refused;
    /// if the answer to one of its attempts was lost, it cannot know whose record is there.
    private func mayWait(_ change: CacheReader.Change) -> Bool {
        switch policy {
        case .manual: change.state != "failed"
        case .localWins:
            !world.settings.renames && change.operation == .create
                && ["conflict", "unclear"].contains { change.error?.hasPrefix($0) == true }
        case .serverWins, .lastWriteWins: false
        }
    }

    /// No creation has made two records. Where local edits win, each daemon that has edited a deleted record creates it
    /// again: as many records as there are daemons, if the upstream chooses the keys.
    private func checkCreations() throws {
        guard policy != .localWins || !world.settings.renames else { return }
        var keys: [String: String] = [:]
        for effect in world.server.effects where effect.operation == .create && effect.entity == "customers" {
            for marker in effect.markers where marker.hasSuffix(".name") {
                guard let other = keys.updateValue(effect.key, forKey: marker), other != effect.key else { continue }
                throw Violation(rule: .onlyOnce, detail: "\(marker) was created as \(other) and as \(effect.key)")
            }
        }
    }

    // MARK: Conflicts

    /// Each conflict is decided as its policy says, so the outcome follows from the two sides alone.
    private func checkDecisions() throws {
        var winners: [String: Set<String>] = [:]
        for daemon in world.daemons {
            guard let store = daemon.life?.store else { continue }
            for decision in try CacheReader(store: store).decisions() {
                guard let expected = expected(decision), let winner = decision.winner else { continue }
                winners[kind(decision), default: []].insert(winner)
                guard winner != expected || winners[kind(decision)]?.count != 1 else { continue }
                throw Violation(
                    rule: .sameDecision,
                    detail: "d\(daemon.number) has decided for \(winner), not \(expected): \(decision)")
            }
        }
    }

    /// Nil where a person decides.
    private func expected(_ decision: CacheReader.Decision) -> String? {
        switch policy {
        case .manual: return nil
        case .localWins: return "local"
        case .serverWins: return "server"
        case .lastWriteWins:
            // Edited here, deleted there.
            if decision.field == nil, decision.operation != .delete { return "server" }
            return isLocalLater(decision) ?? true ? "local" : "server"
        }
    }

    /// Nil without both times.
    private func isLocalLater(_ decision: CacheReader.Decision) -> Bool? {
        guard let localAt = decision.localAt, let serverAt = decision.serverAt else { return nil }
        return localAt > serverAt
    }

    /// What a decision may depend on.
    private func kind(_ decision: CacheReader.Decision) -> String {
        let order = policy == .lastWriteWins ? isLocalLater(decision) : nil
        let sides = decision.sides.map { $0 ?? "nothing" }.joined(separator: "|")
        let place = "\(decision.entity) \(decision.operation) \(decision.field ?? "whole")"
        return "\(place) \(sides) \(order.map { "\($0)" } ?? "")"
    }
}
