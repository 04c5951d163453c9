import EntitySchema
import JSONText
import SyncEngine
import TestSupport

@testable import CacheStore

/// All daemons that write meet one conflict: they are offline, change the same field from the same value to the same other
/// one, and someone changes it upstream too, a minute before or after them.
struct CrowdMeeting {
    let world: World
    let all: ArraySlice<SimulatedDaemon>

    private static let names = ["there first", "here first"]

    func run() throws {
        let keys = Self.names.map { world.server.create("customers", [("name", .string($0)), ("phone", "base")]) }
        for daemon in all { world.sync(daemon, full: false) }
        world.executor.run(for: .seconds(30))
        // One that an outage still holds back does not take part.
        let writers = try all.filter { try knows(keys, $0) }
        guard writers.count > all.count / 2 else {
            throw Violation(rule: .equalInTheEnd, detail: "\(writers.count) of \(all.count) daemons know new records")
        }
        for daemon in writers { daemon.network.setOnline(false) }
        world.server.update("customers", keys[0], .object(["phone": "theirs"]))
        world.executor.run(for: .seconds(60))
        for daemon in writers { for key in keys { edit(daemon, key) } }
        world.executor.run(for: .seconds(60))
        world.server.update("customers", keys[1], .object(["phone": "theirs"]))
        for daemon in writers { daemon.network.setOnline(true) }
        world.executor.run(for: .seconds(130))
        try world.check { for (name, key) in zip(Self.names, keys) { try check(name, key, writers) } }
    }

    private func knows(_ keys: [String], _ daemon: SimulatedDaemon) throws -> Bool {
        guard let store = daemon.life?.store else { return false }
        return try Set(keys).isSubset(of: CacheReader(store: store).visibleKeys("customers"))
    }

    private func edit(_ daemon: SimulatedDaemon, _ key: String) {
        guard let life = daemon.life else { return }
        Task { [log = world.log, clock = daemon.clock, number = daemon.number] in
            do {
                try await life.store.update(
                    "customers", key: key, body: .object(["phone": "ours"]), at: clock.timeOfDay,
                    clockOffset: life.engine.clockOffset() ?? .zero)
                life.engine.noteLocalWrite()
            } catch {
                log.add("d\(number) does not take part: \(error)")
            }
        }
    }

    /// Where the upstream's side stays, each of them has met the conflict, and has decided it as the others have.
    private func check(_ name: String, _ key: String, _ writers: [SimulatedDaemon]) throws {
        let met = try writers.map { daemon in
            try daemon.life.map { try CacheReader(store: $0.store).decisions().filter { $0.key == key } } ?? []
        }
        let expected: String? =
            switch world.settings.policy {
            case .localWins: "local"
            case .serverWins: "server"
            case .manual: nil
            case .lastWriteWins: name == "here first" ? "server" : "local"
            }
        for (daemon, decisions) in zip(writers, met) {
            let isMissing = expected != "local" && decisions.count != 1
            guard isMissing || decisions.contains(where: { $0.winner != expected }) else { continue }
            throw Violation(
                rule: .sameDecision,
                detail: """
                    d\(daemon.number) customers/\(key), changed \(name): \(decisions), expected one for \
                    \(expected ?? "a person")
                    """)
        }
    }
}
