package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// A write that its caller may have to repeat without knowing whether it was done.
package struct RepeatableCall: Sendable {
    /// How long an answer is kept at least.
    static let kept = Duration.seconds(24 * 3600)

    /// The caller's own.
    package var key: String
    /// All that tells this request from another.
    package var request: [UInt8]

    package init(key: String, request: [UInt8]) {
        self.key = key
        self.request = request
    }

    /// Tells whether two requests are the same, and nothing else: what they hold may be secret.
    func fingerprint(_ sealers: RecordSealers) -> String { sealers.fingerprint(of: Array(key.utf8) + [0] + request) }
}

extension CacheStore {
    /// As `write(at:)`, but done once for each key: a repeat is given the answer of the first time, which was written down
    /// in the transaction of the write. A repeat that comes while the first is under way waits for it.
    ///
    /// Throws `.invalid` for a key that another request had, and whatever `body` throws; then nothing is kept.
    package func write(
        once call: RepeatableCall, at now: Timestamp, clockOffset: Duration = .zero,
        _ body: @escaping @Sendable (LocalTransaction) throws -> String
    ) async throws -> String {
        let fingerprint = call.fingerprint(sealers)
        return try await write(at: now, clockOffset: clockOffset) { transaction in
            let db = transaction.db
            try db.cachedStatement(sql: "DELETE FROM sync_answer WHERE at < ?")
                .execute(arguments: [(now - RepeatableCall.kept).milliseconds])
            let first = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT request, answer FROM sync_answer WHERE key = ?"), arguments: [call.key])
            if let first {
                guard first["request"] == fingerprint else {
                    throw CacheError.invalid([
                        FieldProblem(
                            field: "Idempotency-Key", message: "another request had this key; each needs one of its own"
                        )
                    ])
                }
                return first["answer"]
            }
            let answer = try body(transaction)
            try db.cachedStatement(sql: "INSERT INTO sync_answer VALUES (?, ?, ?, ?)")
                .execute(arguments: [call.key, now.milliseconds, fingerprint, answer])
            return answer
        }
    }
}
