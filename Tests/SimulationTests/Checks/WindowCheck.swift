import EntitySchema
import JSONText

@testable import CacheStore

/// Checks after the last sync that the cache holds no record outside of its window that nothing holds, and every one that a
/// kept record refers to.
struct WindowCheck {
    let world: World
    let daemon: SimulatedDaemon
    let reader: CacheReader

    /// `truth` and `here`: the records upstream and in the cache, by their keys.
    func run(_ entity: String, _ truth: [String: JSONText], _ here: [String: JSONText]) throws {
        guard entity == "orders", world.settings.window != .everything else { return }
        let referenced = Set(try reader.records("notes").filter { !$0.isDeleted }.compactMap(reference))
        let queued = Set(try reader.changes().filter { $0.entity == entity }.map(\.key))
        let undecided = try reader.undecidedRecords()
        for (key, record) in truth.sorted(by: { $0.key < $1.key }) where !world.isInWindow(entity, record) {
            let isHere = here[key] != nil
            guard isHere != referenced.contains(key), !undecided.contains("\(entity)/\(key)") else { continue }
            // What was acknowledged a moment ago, or left the window since the last sync, may still be there.
            let isHeld = queued.contains(key) || world.isInWindow(entity, record, ago: .seconds(200)) || isSettling(key)
            guard !isHere || !isHeld else { continue }
            throw Violation(
                rule: .equalInTheEnd,
                detail: """
                    d\(daemon.number) orders/\(key) is outside of the window, and \
                    \(isHere ? "the cache keeps it for nothing" : "a note refers to it, but the cache lacks it"): \
                    \(record.text)
                    """)
        }
    }

    private func reference(_ note: CacheReader.Record) -> String? {
        (note.document ?? note.remote)?["order_id"]?.string
    }

    private func isSettling(_ key: String) -> Bool {
        (try? reader.settling("orders").contains(key)) ?? false
    }
}

extension World {
    /// Whether a cache may lack a record because of its window: it is outside now, or was until the last pull.
    func mayBeOutside(_ entity: String, _ record: JSONText, _ shape: WindowShape = .base) -> Bool {
        !isInWindow(entity, record, shape)
            || settings.window.hasDueTime && !isInWindow(entity, record, ago: .seconds(200), shape)
    }

    /// Whether the caches keep a record that is upstream; `ago`: whether they did then.
    func isInWindow(
        _ entity: String, _ record: JSONText, ago: Duration = .zero, _ shape: WindowShape = .base
    ) -> Bool {
        guard entity == "orders" else { return true }
        if settings.window.hasStages, !shape.stages.contains(record["stage"]?.string ?? "") { return false }
        if settings.window.hasDueTime {
            guard let due = record["due_at"]?.string.flatMap(Timestamp.init(iso8601:)) else { return false }
            return due < server.now - ago + .seconds(shape.span)
        }
        guard settings.window.hasTime else { return true }
        guard let time = record["updated_at"]?.string.flatMap(Timestamp.init(iso8601:)) else { return false }
        return time >= server.now - ago - .seconds(shape.span)
    }
}
