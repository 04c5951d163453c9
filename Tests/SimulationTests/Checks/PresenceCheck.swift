import EntitySchema
import JSONText

@testable import CacheStore

/// Checks after each step that no record has left a cache although the upstream has had it all the time.
final class PresenceCheck {
    /// The records that were in the cache, as `entity/key`, and since which change they were upstream.
    private var seen: [String: Int] = [:]

    func run(_ daemon: SimulatedDaemon, _ store: CacheStore, _ world: World) throws {
        let reader = CacheReader(store: store)
        let undecided = try reader.undecidedRecords()
        let deleted = try reader.ownDeletions()
        var now: [String: Int] = [:]
        for entity in world.settings.entities {
            let isComplete = try daemon.hasPulledWindow(of: entity)
            let here = Set(try reader.records(entity).filter { $0.remote != nil }.map(\.key))
            for row in world.server.rows(entity) where !row.isDeleted {
                let name = "\(entity)/\(row.key)"
                if here.contains(row.key) {
                    now[name] = row.bornAs
                } else if let before = seen[name] {
                    // The pull with the window of this process may bring it back.
                    guard isComplete else {
                        now[name] = before
                        continue
                    }
                    // It may have left the window and come back since the last step.
                    let versions = world.server.versions(of: entity, row.key).compactMap { try? JSONText(parsing: $0) }
                    guard before == row.bornAs, !undecided.contains(name), !deleted.contains(name),
                        !versions.contains(where: { world.mayBeOutside(entity, $0, daemon.shape) })
                    else { continue }
                    throw Violation(
                        rule: .noFalseDeletion,
                        detail: "d\(daemon.number) has lost \(name), which the server still has: \(row.record.text)")
                }
            }
        }
        seen = now
    }
}
