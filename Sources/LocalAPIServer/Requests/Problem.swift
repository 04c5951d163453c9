internal import CacheStore
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// An error as callers see it: a problem document (RFC 9457).
struct Problem: Error {
    var status: Int
    var title: String
    var detail: String
    var errors: [FieldProblem] = []
    /// The changes that prevent this one.
    var dependents: [Int64] = []
    var headers: [(name: String, value: String)] = []
    /// Set when the caller may not make this request, whatever it asks.
    var refusal: RefusedCaller?

    var response: Response {
        var members: [(key: String, value: JSONText)] = [
            ("type", "about:blank"), ("title", .string(title)), ("status", .integer(status)),
            ("detail", .string(detail)),
        ]
        if !errors.isEmpty {
            let list = errors.map { JSONText.object(["field": .string($0.field), "message": .string($0.message)]) }
            members.append(("errors", .array(list)))
        }
        if !dependents.isEmpty {
            members.append(("dependents", .array(dependents.map { JSONText.integer(Int($0)) })))
        }
        return Response(
            status: status, headers: [("Content-Type", "application/problem+json")] + headers,
            body: Array(JSONText.object(members: members).bytes))
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
    static func badRequest(_ detail: String, field: String? = nil) -> Problem {
        let errors = field.map { [FieldProblem(field: $0, message: detail)] } ?? []
        return Problem(status: 400, title: "Bad request", detail: detail, errors: errors)
    }

    static func notFound(_ detail: String) -> Problem {
        Problem(status: 404, title: "Not found", detail: detail)
    }

    /// `entity`: the entity whose schema rules out the other methods, if one does.
    static func methodNotAllowed(_ allowed: [String], of entity: String? = nil) -> Problem {
        let list = allowed.joined(separator: ", ")
        let reason = entity.map { "; the schema cannot send other changes of \($0)" } ?? ""
        return Problem(
            status: 405, title: "Method not allowed", detail: "this address takes \(list)\(reason)",
            headers: [("Allow", list)])
    }

    static func conflict(_ detail: String) -> Problem {
        Problem(status: 409, title: "Conflict", detail: detail)
    }

    static func unavailable(_ detail: String) -> Problem {
        Problem(status: 503, title: "Unavailable", detail: detail, headers: [("Retry-After", "5")])
    }

    /// The problem that reports an error of the cache.
    init(_ error: CacheError) {
        switch error {
        case .invalid(let errors):
            let detail = errors.map { $0.field.isEmpty ? $0.message : "\($0.field): \($0.message)" }
            self.init(
                status: 422, title: "Unprocessable content", detail: detail.joined(separator: "; "), errors: errors)
        case .notFound(let detail): self = .notFound(detail)
        case .gone(let detail): self.init(status: 410, title: "Gone", detail: detail)
        case .unsupported(_, let entity, let supported):
            let methods = supported.compactMap { ["create": "POST", "update": "PATCH", "delete": "DELETE"][$0] }
            self = .methodNotAllowed(["GET", "HEAD"] + methods, of: entity)
        case .conflict(let detail): self = .conflict(detail)
        case .needed(let dependents, let detail):
            self = .conflict(detail)
            self.dependents = dependents
        case .changed(let detail): self.init(status: 412, title: "Precondition failed", detail: detail)
        case .badQuery(let field, let message): self = .badRequest(message, field: field)
        case .unwritable(let detail), .damaged(let detail), .failed(let detail), .incompatible(let detail):
            self = .unavailable(detail)
        }
    }
}
