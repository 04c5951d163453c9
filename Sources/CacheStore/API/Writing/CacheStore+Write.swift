package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Local changes: each is validated, applied over the record and queued in one transaction.
///
/// `clockOffset` is how far the server's clock is ahead of ours, as last measured: the last write wins by the server's
/// clock.
extension CacheStore {
    /// Does `body` in one transaction; it is on disk when this returns, and undone when `body` throws.
    ///
    /// `body` may run twice, the first time undone, so it returns a value and renders nothing. `trace` is the caller's, and
    /// goes upstream with what is queued.
    package func write<Result: Sendable>(
        at now: Timestamp, clockOffset: Duration = .zero, trace: TraceContext? = nil,
        _ body: @escaping @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        try await writer.write { [self] db in
            let context = context(db, at: now, clockOffset: clockOffset, trace: trace)
            let result = try body(LocalTransaction(store: self, context: context))
            try context.records.hooks.log(to: context.log)
            return result
        }
    }

    /// Creates a record and queues its creation; returns its key, which is generated unless the body has one.
    ///
    /// Throws `.invalid` for a body that does not fit the schema, `.conflict` for a key that is taken.
    package func create(_ entity: String, body: JSONText, at now: Timestamp, clockOffset: Duration = .zero) async throws
        -> String
    {
        try await write(at: now, clockOffset: clockOffset) { try $0.create(entity, body) }
    }

    /// Changes the fields in `body`, where null sets null, and queues the change. A field that already has its value is
    /// no change; when none is left, nothing is queued.
    ///
    /// Throws `.changed` for a version that is not expected; the transaction of the write checks that.
    package func update(
        _ entity: String, key: String, body: JSONText, expecting expected: ExpectedVersion = .any, at now: Timestamp,
        clockOffset: Duration = .zero
    ) async throws {
        try await write(at: now, clockOffset: clockOffset) {
            try $0.update(entity, key: key, body, expecting: expected)
        }
    }

    /// Hides the record and queues its deletion. A record that was never sent is removed with its queued creation.
    /// Throws `.changed` as `update` does.
    package func delete(
        _ entity: String, key: String, expecting expected: ExpectedVersion = .any, at now: Timestamp,
        clockOffset: Duration = .zero
    ) async throws {
        try await write(at: now, clockOffset: clockOffset) { try $0.delete(entity, key: key, expecting: expected) }
    }
}
