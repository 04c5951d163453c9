internal import CacheStore
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// An error as callers see it: a problem document (RFC 9457).
struct Problem: Error {
    var code: ProblemCode
    var detail: String
    /// What is wrong with each part of the request; empty if the problem is not about its input.
    var errors: [InputError] = []
    /// The changes that prevent this one.
    var dependents: [Int64] = []
    var headers: [(name: String, value: String)] = []
    /// Set when the caller may not make this request, whatever it asks.
    var refusal: RefusedCaller?

    init(
        _ code: ProblemCode, _ detail: String, errors: [InputError] = [],
        headers: [(name: String, value: String)] = [], refusal: RefusedCaller? = nil
    ) {
        self.code = code
        self.detail = detail
        self.errors = errors
        self.headers = headers
        self.refusal = refusal
    }

    var status: Int { code.status }

    /// `request`: the id of the request, for its `request_id`; empty for a problem within an answer.
    func document(of request: String = "") -> JSONText {
        var members: [(key: String, value: JSONText)] = [
            ("type", .string(code.type)), ("title", .string(code.title)), ("status", .integer(status)),
            ("code", .string(code.rawValue)), ("detail", .string(detail)),
        ]
        if !errors.isEmpty { members.append(("errors", .array(errors.map(\.document)))) }
        if !dependents.isEmpty {
            members.append(("dependents", .array(dependents.map { JSONText.integer(Int($0)) })))
        }
        if !request.isEmpty { members.append(("request_id", .string(request))) }
        return .object(members: members)
    }

    func response(to request: Request) -> Response {
        Response(
            status: status, headers: [("Content-Type", "application/problem+json")] + headers,
            body: Array(document(of: request.id).bytes))
    }
}

/// Why a caller may not call, as the metrics and the log name it.
enum RefusedCaller: String, Comparable {
    case unknown = "unknown_caller"
    case noToken = "no_token"
    case otherHost = "other_host"
    case webPage = "web_page"
    case tooManyCalls = "too_many_calls"

    static func < (one: RefusedCaller, other: RefusedCaller) -> Bool { one.rawValue < other.rawValue }
}

extension Problem {
    /// A parameter of the query that the call cannot use.
    static func parameter(
        _ name: String, _ message: String, _ code: ProblemCode = .invalidParameter
    ) -> Problem {
        Problem(code, [InputError(code.rawValue, in: .query, name, message)])
    }

    /// A header field that the call cannot use.
    static func header(_ name: String, _ message: String) -> Problem {
        Problem(.invalidHeader, [InputError(ProblemCode.invalidHeader.rawValue, in: .header, name, message)])
    }

    /// A member of the body that the call cannot use.
    static func body(_ member: String, _ message: String, _ code: ProblemCode = .invalidBody) -> Problem {
        Problem(code, [InputError(code.rawValue, in: .body, member, message)])
    }

    /// Parts of the request that the call cannot use.
    private init(_ code: ProblemCode, _ errors: [InputError]) {
        self.init(code, errors.map(\.detail).joined(separator: "; "), errors: errors)
    }

    /// A part of the body that the call cannot use.
    init(_ error: InputError) {
        self.init(.invalidBody, "\(error.field): \(error.message)", errors: [error])
    }

    static func notFound(_ detail: String) -> Problem { Problem(.notFound, detail) }

    /// `reason`: why the method is not among those that are allowed, if there is more to say.
    static func methodNotAllowed(_ allowed: [String], because reason: String? = nil) -> Problem {
        let list = allowed.joined(separator: ", ")
        let detail = "\(reason.map { "\($0); " } ?? "")this address takes \(list)"
        return Problem(.methodNotAllowed, detail, headers: [("Allow", "\(list), OPTIONS")])
    }

    static func conflict(_ detail: String) -> Problem { Problem(.conflict, detail) }

    static func unavailable(_ detail: String, _ code: ProblemCode = .unavailable) -> Problem {
        Problem(code, detail, headers: [("Retry-After", "5")])
    }

    /// What a repeatable write stored is of no known form, or no longer kept.
    static let unreadableFirstAnswer = unavailable(
        "the first of these requests was done, and its answer is no longer kept; read the record, and use another Idempotency-Key for another change"
    )

    /// Several mistakes of one request, reported at once; there is at least one.
    ///
    /// The code is that of the first part of the request that has any: query, header, body. Different mistakes in that part
    /// share its general code.
    init(_ problems: [Problem]) {
        let part = InputError.Place.allCases.first { part in problems.contains { $0.errors.first?.place == part } }
        let deciding = problems.filter { $0.errors.first?.place == part }
        self = deciding[0]
        if let part, deciding.contains(where: { $0.code != code }) { code = part.code }
        detail = problems.map(\.detail).joined(separator: "; ")
        errors = problems.flatMap(\.errors)
    }

    /// The problem that reports an error of the cache.
    init(_ error: CacheError) {
        switch error {
        case .invalid(let errors):
            let detail = errors.map { $0.field.isEmpty ? $0.message : "\($0.field): \($0.message)" }
            self.init(.invalidFields, detail.joined(separator: "; "), errors: errors.map { InputError($0, in: .body) })
        case .notFound(let detail): self.init(.notFound, detail)
        case .notCached(let entity, let key): self.init(.notCached, "\(entity)/\(key) is not in the cache")
        case .ambiguous(let detail): self.init(.ambiguousID, detail)
        case .gone(let detail): self.init(.gone, detail)
        case .unsupported(let operation, let entity, let supported):
            let methods = supported.compactMap { ["create": "POST", "update": "PATCH", "delete": "DELETE"][$0] }
            self = .methodNotAllowed(
                ["GET", "HEAD"] + methods, because: "the schema cannot \(operation) records of \(entity)")
        case .conflict(let detail): self.init(.conflict, detail)
        case .busy(let detail): self.init(.busy, detail, headers: [("Retry-After", "1")])
        case .needed(let dependents, let detail):
            self.init(.hasDependents, detail)
            self.dependents = dependents
        case .changed(let detail): self.init(.versionMismatch, detail)
        case .badQuery(let field, let message): self = .parameter(field, message)
        case .badQueries(let problems):
            self.init(
                .invalidParameter,
                problems.map { problem in
                    InputError(ProblemCode.invalidParameter.rawValue, in: .query, problem.field, problem.message)
                })
        case .keyReused:
            self.init(.idempotencyKeyReused, "Idempotency-Key: another request had this key; each needs one of its own")
            errors = [InputError(code.rawValue, in: .header, "Idempotency-Key", detail)]
        case .unwritable(let detail), .damaged(let detail), .failed(let detail), .incompatible(let detail):
            self = .unavailable(detail)
        }
    }
}

extension CacheError {
    /// The reason to log when a request fails through no fault of the caller; nil for what the caller can correct, and for damage,
    /// which is logged where it is found.
    var fault: String? {
        switch self {
        case .unwritable(let message), .failed(let message): message
        default: nil
        }
    }
}

extension Int64 {
    /// The number that is the id of a `thing` of the daemon's own, such as a change; throws for any other text.
    static func number(_ id: String, of thing: String) throws(Problem) -> Int64 {
        guard let number = Int64(id) else {
            throw .notFound("there is no \(thing) \(id.prefix(50)): the id of a \(thing) is a number, such as 4")
        }
        return number
    }
}
