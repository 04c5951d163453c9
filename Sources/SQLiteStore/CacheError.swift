internal import GRDB
internal import JSONText

/// Why the cache did not do what it was asked to do, sorted by how the caller should react.
package enum CacheError: Error, Sendable, Equatable {
    /// The request is wrong: fix the named fields and retry.
    case invalid([FieldProblem])
    /// There is no such change, conflict or other thing of this cache's own.
    case notFound(String)
    /// The cache has no such record; whether the upstream has one is another question.
    case notCached(entity: String, key: String)
    /// Several records have what should name one: name it by its key.
    case ambiguous(String)
    /// The position is no longer in the change log, or belongs to another cache: start over.
    case gone(String)
    /// The schema has no request for this operation; `supported` lists the operations it has.
    case unsupported(operation: String, entity: String, supported: [String])
    /// Not possible in the present state; the text says why.
    case conflict(String)
    /// Not possible while a change is being sent: try again once its outcome is known, which is soon.
    case busy(String)
    /// Like `.conflict`: these changes are the reason, because they depend on the one to be removed.
    case needed(by: [Int64], String)
    /// The record is not at the version that the caller expected: read it again, then decide.
    case changed(String)
    /// A cursor or parameter of a list is not usable.
    case badQuery(field: String, message: String)
    /// Several are not usable, one problem for each.
    case badQueries([FieldProblem])
    /// Another request had this idempotency key: use a key of its own.
    case keyReused
    /// The disk is full or the file cannot be written: retry once that has been fixed.
    case unwritable(String)
    /// The database file is damaged: set it aside and rescue the queue (`QueueRescue`).
    case damaged(String)
    /// Something is wrong with the database or with this program; nothing was changed.
    case failed(String)
    /// A newer version wrote the file, or its schema cannot be adapted to this one: stop.
    case incompatible(String)
}

/// For logs and the status.
extension CacheError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound(let message), .ambiguous(let message), .gone(let message), .conflict(let message),
            .busy(let message), .needed(_, let message), .changed(let message), .unwritable(let message),
            .damaged(let message), .failed(let message), .incompatible(let message):
            message
        case .badQuery(let field, let message): "\(field): \(message)"
        case .invalid(let problems), .badQueries(let problems):
            problems.map { $0.field.isEmpty ? $0.message : "\($0.field): \($0.message)" }.joined(separator: "; ")
        case .notCached(let entity, let key): "\(entity)/\(key) is not in the cache"
        case .unsupported(let operation, let entity, _): "\(entity) has no \(operation)"
        case .keyReused: "another request had this idempotency key"
        }
    }
}

/// What errors of SQLite mean.
extension CacheError {
    /// Translates an error of SQLite to the case that says what it means for the caller; returns any other unchanged.
    ///
    /// Stored text was validated before it was stored, so text that is no longer JSON, to us or to SQLite, means
    /// damage. So does a path into JSON that is invalid: the paths are part of the tables' definitions.
    package static func classified(_ error: any Error) -> any Error {
        if let error = error as? JSONError {
            return CacheError.damaged("the database is damaged (a stored text is \(error))")
        }
        guard let error = error as? DatabaseError else { return error }
        // A failed copy has the reason only in its code.
        let said = error.message.flatMap { $0 == "not an error" ? nil : $0 }
        let reason = said ?? error.resultCode.description
        let damaged = CacheError.damaged("the database is damaged (\(reason))")
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_PROTOCOL:
            return CacheError.unwritable(
                "another program has locked the database (\(reason)); end that program, or wait until it is done")
        // SQLite calls a quota that is used up an error of the disk.
        case .SQLITE_FULL, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_CANTOPEN:
            return CacheError.unwritable(
                "the database cannot be written (\(reason)); check the disk, its free space and its quotas")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return damaged
        case .SQLITE_TOOBIG:
            return CacheError.failed(
                "the database has a value of more than \(ForeignFile.longestValue >> 20) MiB, which the daemon never stores, so "
                    + "another program has changed it; restore a backup, or set it aside (repairminder-sync database set-aside)"
            )
        case .SQLITE_NOMEM:
            return CacheError.failed(
                "reading the database takes more memory than there is, or than the \(SQLiteLibrary.memoryOfCommand) MiB of a "
                    + "command; if another program has changed it, restore a backup, or set it aside (repairminder-sync "
                    + "database set-aside)")
        case .SQLITE_ERROR where reason.hasPrefix("access to view"):
            return CacheError.damaged("the database has another program's view in place of a table (\(reason))")
        case .SQLITE_ERROR where isOfJSON(reason): return damaged
        default:
            return CacheError.failed(
                "the database returned \(error.resultCode): \(reason); please report this")
        }
    }

    /// Whether an error is about text that is no JSON. Damage has such errors, and so has a statement that takes other text
    /// for JSON, or makes some from it.
    static func isOfJSON(_ error: any Error) -> Bool {
        if error is JSONError { return true }
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_ERROR else { return false }
        return error.message.map(isOfJSON) ?? false
    }

    private static func isOfJSON(_ reason: String) -> Bool {
        reason == "malformed JSON" || reason.hasPrefix("JSON path error")
    }
}

/// One problem with one field of a request.
package struct FieldProblem: Error, Sendable, Equatable {
    /// What is wrong, for programs. Callers depend on the names, so none is ever changed.
    package enum Code: String, Sendable, CaseIterable {
        case unknownField = "unknown_field"
        case repeatedField = "repeated_field"
        case missingField = "missing_field"
        case readOnlyField = "read_only_field"
        case unsendableField = "unsendable_field"
        case nullNotAllowed = "null_not_allowed"
        case wrongType = "wrong_type"
        case unknownValue = "unknown_value"
        case invalidKey = "invalid_key"
        case invalidValue = "invalid_value"
    }

    /// Empty for the whole.
    package var field: String
    package var message: String
    package var code: Code

    package init(field: String, message: String, code: Code = .invalidValue) {
        self.field = field
        self.message = message
        self.code = code
    }
}
