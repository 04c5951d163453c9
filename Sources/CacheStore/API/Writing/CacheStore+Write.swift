package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Local changes: each is validated, applied over the record and queued in one transaction.
///
/// `clockOffset` is how far the server's clock is ahead of ours, as last measured: the last write wins by the server's
/// clock.
extension CacheStore {
    /// Does `body` in one transaction; it is on disk when this returns, and undone when `body` throws.
    ///
    /// `body` may run twice, the first time undone, so it returns a value and renders nothing. `trace` is the caller's, and
    /// goes upstream with what is queued. Callers take turns. Throws `.unwritable` once the file or its log has been
    /// deleted or moved, and, for callers of the API, while the disk is nearly full.
    package func write<Result: Sendable>(
        for caller: ReadCaller = .daemon, at now: Timestamp, clockOffset: Duration = .zero, trace: TraceContext? = nil,
        _ body: @escaping @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        if caller != .daemon, let space, space.isNearlyFull {
            throw CacheError.unwritable(
                "no change is stored, because the disk has only \(space.free >> 20) MiB free, which are kept for sending what is "
                    + "queued; free some space")
        }
        return try await writer.write(for: caller.name) { [self] db in
            try DatabaseFile(pool.path).requireInPlace(db, log: logNumber)
            let context = context(db, at: now, clockOffset: clockOffset, trace: trace)
            let result = try body(LocalTransaction(store: self, context: context))
            try context.records.hooks.log(to: context.log)
            return result
        }
    }
}
