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
