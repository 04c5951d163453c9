import EntitySchema
import JSONText

@testable import CacheStore

/// Checks that the later write won, by the true times of both, wherever the entity's policy is last write wins.
struct ConflictCheck {
    let daemon: SimulatedDaemon
    let store: CacheStore
    let world: World

    func run() throws {
        guard world.settings.policy == .lastWriteWins else { return }
        for decision in try CacheReader(store: store).lastWrites() { try check(decision) }
    }

    private func check(_ decision: CacheReader.LastWrite) throws {
        guard let server = decision.server else {
            // Deleted upstream: the time is unknown, and the deletion wins.
            guard decision.winner == "server" else { throw fail(decision, "a deletion lost") }
            return
        }
        // The change time of an answer to an edit from here is that of this edit, and of no other field.
        guard let serverAt = decision.serverAt else {
            guard decision.winner == "local" else { throw fail(decision, "a value of unknown age won") }
            return
        }
        guard try wasListed(server, at: serverAt, decision) else {
            throw fail(decision, "the server's version never had that change time")
        }
        let writes = self.writes(of: decision)
        let isRight = writes.contains { self.isRight(decision.winner, $0, serverAt) }
        guard !writes.isEmpty, !isRight, let write = writes.last else { return }
        throw fail(
            decision,
            """
            w\(write.number) was made at \(write.madeAt?.description ?? "?"), known to \
            \(write.uncertainty.map { "\($0)" } ?? "nothing")
            """)
    }

    private func isRight(_ winner: String, _ write: LocalWrite, _ serverAt: Timestamp) -> Bool {
        guard let madeAt = write.madeAt, let uncertainty = write.uncertainty else { return true }
        let lead = madeAt.since(serverAt)
        return winner == "local" ? lead > .zero - uncertainty : lead <= uncertainty
    }

    /// The write that a field's value came from; for a deletion, any deletion of that record.
    private func writes(of decision: CacheReader.LastWrite) -> [LocalWrite] {
        let all = world.ledger.all.filter { $0.daemon == daemon.number }
        if decision.field != nil {
            let number = decision.local?.string.flatMap(Ledger.number(of:))
            return all.filter { $0.number == number }
        }
        let reader = CacheReader(store: store)
        func current(_ key: String?) -> String? { key.flatMap { try? reader.current(decision.entity, $0) } }
        return all.filter {
            $0.operation == .delete && $0.entity == decision.entity && current($0.key) == current(decision.key)
        }
    }

    /// Looks up a field's value by itself, and a record as a whole.
    private func wasListed(
        _ server: JSONText, at time: Timestamp, _ decision: CacheReader.LastWrite
    ) throws -> Bool {
        guard let field = decision.field else { return server["updated_at"] == .string(time.description) }
        return world.server.changeTimes(
            of: SimulatedServer.FieldValue(entity: decision.entity, field: field, value: server.text)
        ).contains(time)
    }

    private func fail(_ decision: CacheReader.LastWrite, _ what: String) -> Violation {
        Violation(
            rule: .lastWriteWins,
            detail: """
                d\(daemon.number) \(decision.entity)/\(decision.key) \(decision.field ?? "as a whole"): \
                \(decision.winner) won, \(decision.local?.text ?? "a deletion") against \
                \(decision.server?.text ?? "a deletion") of \(decision.serverAt?.description ?? "no time"); \(what)
                """)
    }
}
