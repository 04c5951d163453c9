internal import GRDB
internal import SQLiteStore

/// Several writes of one transaction, each of which may be refused by itself.
extension LocalTransaction {
    /// Does `count` writes in order. One that throws is undone alone, and its outcome is what `refused` makes of the
    /// error; if that throws too, all are undone.
    ///
    /// `write` gets the outcomes of the writes before it. It may run twice: a savepoint costs more than a small write,
    /// so there is one for all at first, and one for each only after a write has thrown that had changed something.
    package func each<Outcome>(
        _ count: Int, write: (_ before: [Outcome]) throws -> Outcome,
        refused: (any Error, _ number: Int) throws -> Outcome
    ) throws -> [Outcome] {
        let noted = context.records.hooks
        var outcomes: [Outcome]?
        try db.inSavepoint {
            outcomes = try run(count, apart: false, write, refused)
            return outcomes == nil ? .rollback : .commit
        }
        if let outcomes { return outcomes }
        context.records.forgetNotes(since: noted)
        return try run(count, apart: true, write, refused) ?? []
    }

    /// Returns nil if a write needs a savepoint and had none.
    private func run<Outcome>(
        _ count: Int, apart: Bool, _ write: ([Outcome]) throws -> Outcome, _ refused: (any Error, Int) throws -> Outcome
    ) throws -> [Outcome]? {
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(count)
        context.records.postponesFigures = store.plans.canPostponeFigures
        defer {
            context.records.postponesFigures = false
            context.records.hooks.unmark()
        }
        for number in 0..<count {
            let before = db.totalChangesCount
            context.records.hooks.mark()
            context.records.stale.beginWrite()
            do {
                outcomes.append(try apart ? inSavepoint { try write(outcomes) } : write(outcomes))
            } catch {
                // An I/O error may have rolled everything back.
                guard db.isInsideTransaction else { throw error }
                context.records.forgetNotes()
                let outcome = try refused(error, number)
                if !apart, db.totalChangesCount != before { return nil }
                outcomes.append(outcome)
            }
        }
        // Once for all writes: a parent of many records would otherwise be computed from all of them at each one.
        try context.computeFigures()
        return outcomes
    }

    private func inSavepoint<Result>(_ body: () throws -> Result) throws -> Result {
        var result: Result?
        try db.inSavepoint {
            result = try body()
            return .commit
        }
        guard let result else { throw CacheError.failed("a write was rolled back; please report this") }
        return result
    }
}
