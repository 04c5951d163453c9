package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// A write that its caller may repeat without knowing whether the first one was done.
package struct RepeatableCall: Sendable {
    /// How long a result is kept, unless it is one of many `LargeAnswers`.
    static let kept = Duration.seconds(24 * 3600)

    /// The name that the caller gives the request.
    package var key: String
    /// Everything that distinguishes this request from others.
    package var request: [UInt8]

    package init(key: String, request: [UInt8]) {
        self.key = key
        self.request = request
    }

    /// Shows whether two requests are the same and reveals nothing else, because they may hold secrets.
    func fingerprint(_ sealers: RecordSealers) -> String { sealers.fingerprint(of: Array(key.utf8) + [0] + request) }
}

extension CacheStore {
    /// Some at a time: a day after a million calls, one call must not delete them all.
    private static let forgetAnswers = """
        DELETE FROM sync_answer WHERE rowid IN (SELECT rowid FROM sync_answer WHERE at < ? ORDER BY at LIMIT 1000)
        """

    /// As `write(at:)`, but done once for each key: a repeat gets the result of the first, which its transaction
    /// stored.
    ///
    /// `body` returns the result as text, from which the caller renders its answer. A repeat that comes while the first
    /// is under way waits for it. Throws `.keyReused` for a key that another request had, and whatever `body` throws;
    /// then nothing is stored.
    package func write(
        once call: RepeatableCall, for caller: ReadCaller = .daemon, at now: Timestamp, clockOffset: Duration = .zero,
        trace: TraceContext? = nil,
        _ body: @escaping @Sendable (LocalTransaction) throws -> String
    ) async throws -> String {
        let fingerprint = call.fingerprint(sealers)
        return try await write(for: caller, at: now, clockOffset: clockOffset, trace: trace) { [self] transaction in
            let db = transaction.db
            let oldest = (now - RepeatableCall.kept).milliseconds
            try db.cachedStatement(sql: Self.forgetAnswers).execute(arguments: [oldest])
            let first = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT request, answer FROM sync_answer WHERE key = ? AND at >= ?"),
                arguments: [call.key, oldest])
            if let first {
                guard first["request"] == fingerprint else { throw CacheError.keyReused }
                return try sealers.openedAnswer(first["answer"])
            }
            let result = try body(transaction)
            let answer = try sealers.sealedAnswer(result)
            try largeAnswers.add(answer, db)
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO sync_answer VALUES (?, ?, ?, ?)")
                .execute(arguments: [call.key, now.milliseconds, fingerprint, answer])
            return result
        }
    }
}

extension ShownRecord {
    /// As a repeatable write stores it.
    package var stored: JSONText {
        .object([
            "text": .string(String(decoding: bytes, as: UTF8.self)), "version": .string(hex(version.record)),
            "shown_version": .string(hex(version.rest)),
        ])
    }

    /// Nil for any other document.
    package init?(_ stored: JSONText) {
        guard let text = stored["text"]?.string,
            let record = stored["version"]?.string.flatMap({ UInt64($0, radix: 16) }),
            let rest = stored["shown_version"]?.string.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        self.init(bytes: Array(text.utf8), version: RecordVersion(record: record, rest: rest))
    }
}

extension RecordVersion {
    fileprivate init(record: UInt64, rest: UInt64) {
        self.record = record
        self.rest = rest
    }
}

private func hex(_ number: UInt64) -> String { String(number, radix: 16) }
