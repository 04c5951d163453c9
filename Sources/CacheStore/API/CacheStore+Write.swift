package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Local changes: validated, laid over the record and queued in one transaction.
///
/// `clockOffset` is how far the server's clock is ahead of ours, as last measured: the last write wins by the server's.
extension CacheStore {
    /// Whatever `body` does happens in one transaction, or not at all when it throws; on disk when this returns.
    package func write<Result: Sendable>(
        at now: Timestamp, clockOffset: Duration = .zero,
        _ body: @escaping @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        try await writer.write { db in
            try body(LocalTransaction(store: self, db: db, now: now, clockOffset: clockOffset))
        }
    }

    /// Makes a record and queues its creation; returns its key, made here unless the body has one.
    ///
    /// Throws `.invalid` for a body that does not fit the schema, `.conflict` for a key that is taken.
    package func create(_ entity: String, body: JSONText, at now: Timestamp, clockOffset: Duration = .zero) async throws
        -> String
    {
        try await write(at: now, clockOffset: clockOffset) { try $0.create(entity, body) }
    }

    /// Changes the fields in `body`, null setting null, and queues the change. Fields that already have their value are
    /// not changes; when none is left nothing is queued.
    ///
    /// Throws `.changed` for a version that is not expected; that is looked at in the transaction of the write.
    package func update(
        _ entity: String, key: String, body: JSONText, expecting expected: ExpectedVersion = .any, at now: Timestamp,
        clockOffset: Duration = .zero
    ) async throws {
        try await write(at: now, clockOffset: clockOffset) {
            try $0.update(entity, key: key, body, expecting: expected)
        }
    }

    /// Takes the record out of sight and queues its deletion. One that was never sent is gone for good, creation and all.
    /// Throws `.changed` as `update` does.
    package func delete(
        _ entity: String, key: String, expecting expected: ExpectedVersion = .any, at now: Timestamp,
        clockOffset: Duration = .zero
    ) async throws {
        try await write(at: now, clockOffset: clockOffset) { try $0.delete(entity, key: key, expecting: expected) }
    }
}
