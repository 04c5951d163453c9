import EntitySchema
import JSONText
import SQLiteStore
import SyncEngine

@testable import CacheStore

/// Batches: several writes of one user in one transaction.
extension World {
    /// A write of a batch; `run` gets the keys that the writes before it returned, nil for one that was refused.
    private struct Part: Sendable {
        var write: LocalWrite
        var run: @Sendable (LocalTransaction, [String?]) throws -> String

        static func run(_ parts: [Part], _ isAtomic: Bool, _ transaction: LocalTransaction) throws -> [String?] {
            let keys = try transaction.each(parts.count) { before -> String? in
                try parts[before.count].run(transaction, before)
            } refused: { _, _ in
                nil
            }
            if isAtomic, keys.contains(nil) { throw CacheError.conflict("one of them was refused") }
            return keys
        }
    }

    /// Creates a customer, edits an order and creates one for the new customer; with `fails`, another write is refused after
    /// it has changed something: it is undone alone, or all are.
    func batch(_ daemon: SimulatedDaemon, _ pick: Int, isAtomic: Bool, fails: Bool) {
        guard let life = daemon.life else { return }
        let edited = pickLocalKey(life, "orders", pick).map { edit($0, daemon) }
        var parts = [newCustomer(daemon)]
        if let edited { parts.append(edited) }
        if fails { parts.append(undone(daemon)) }
        parts.append(newOrder(daemon))
        let numbers = parts.map(\.write.number)
        log.add("d\(daemon.number) receives a batch, \(isAtomic ? "all or none" : "each by itself"): w\(numbers)")
        Task { [log, ledger, server, parts, clock = daemon.clock] in
            do {
                for number in numbers {
                    ledger.make(number, at: server.now, uncertainty: life.upstream.clockUncertainty)
                }
                let keys = try await life.store.write(
                    at: clock.timeOfDay, clockOffset: life.engine.clockOffset() ?? .zero
                ) { transaction in try Part.run(parts, isAtomic, transaction) }
                guard life.upstream.isAlive else { return }
                for (number, key) in zip(numbers, keys) {
                    ledger.answer(number, key == nil ? .refused : .made, key: key)
                }
                log.add("the batch is acknowledged: \(keys.map { $0 ?? "refused" })")
                life.engine.noteLocalWrite()
            } catch {
                guard life.upstream.isAlive else { return }
                for number in numbers { ledger.answer(number, .refused) }
                log.add("the batch is refused: \(error)")
            }
        }
    }

    // MARK: Parts

    private func newCustomer(_ daemon: SimulatedDaemon) -> Part {
        let write = begin(daemon, "customers", nil, .create)
        let body = JSONText.object(members: members(of: write))
        return Part(write: write) { transaction, _ in try transaction.create("customers", body) }
    }

    /// For the customer that the first write has created.
    private func newOrder(_ daemon: SimulatedDaemon) -> Part {
        let write = begin(daemon, "orders", nil, .create)
        let fields = members(of: write) + stage(of: "orders")
        return Part(write: write) { transaction, before in
            let customer = (key: "customer_id", value: JSONText.string(before[0]))
            return try transaction.create("orders", .object(members: fields + [customer]))
        }
    }

    private func edit(_ key: String, _ daemon: SimulatedDaemon) -> Part {
        let write = begin(daemon, "orders", key, .update)
        let body = JSONText.object(members: members(of: write))
        return Part(write: write) { transaction, _ in
            try transaction.update("orders", key: key, body)
            return key
        }
    }

    private func undone(_ daemon: SimulatedDaemon) -> Part {
        let write = begin(daemon, "customers", nil, .create)
        let body = JSONText.object(members: members(of: write))
        return Part(write: write) { transaction, before in
            try transaction.update("customers", key: before[0] ?? "", body)
            throw CacheError.conflict("it is to be undone")
        }
    }

    private func begin(
        _ daemon: SimulatedDaemon, _ entity: String, _ key: String?, _ operation: Operation
    ) -> LocalWrite {
        ledger.begin(
            daemon: daemon.number, entity, key, operation, fields: SimulationSettings.markedFields[entity] ?? [])
    }
}
