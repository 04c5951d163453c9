/// What went wrong, for programs: the `code` of every problem document.
///
/// Callers depend on the names, so none is ever changed or given another meaning. docs/errors.md lists them all.
enum ProblemCode: String, CaseIterable, Sendable {
    case malformedPath = "malformed_path"
    case malformedQuery = "malformed_query"
    case malformedJSON = "malformed_json"
    case malformedRequest = "malformed_request"
    case unknownParameter = "unknown_parameter"
    case repeatedParameter = "repeated_parameter"
    case missingParameter = "missing_parameter"
    case invalidParameter = "invalid_parameter"
    case conflictingParameters = "conflicting_parameters"
    case ambiguousID = "ambiguous_id"
    case invalidHeader = "invalid_header"
    case invalidBody = "invalid_body"
    case unexpectedBody = "unexpected_body"
    case incompleteBody = "incomplete_body"
    case tokenRequired = "token_required"
    case foreignHost = "foreign_host"
    case foreignPage = "foreign_page"
    case noSuchAddress = "no_such_address"
    case unknownEntity = "unknown_entity"
    case notFound = "not_found"
    case notListed = "not_listed"
    case notCached = "not_cached"
    case methodNotAllowed = "method_not_allowed"
    case requestTimeout = "request_timeout"
    case conflict
    case busy
    case hasDependents = "has_dependents"
    case paused
    case gone
    case versionMismatch = "version_mismatch"
    case contentTooLarge = "content_too_large"
    case targetTooLong = "target_too_long"
    case unsupportedMediaType = "unsupported_media_type"
    case rangeNotSatisfiable = "range_not_satisfiable"
    case unknownExpectation = "unknown_expectation"
    case invalidFields = "invalid_fields"
    case batchRefused = "batch_refused"
    case idempotencyKeyReused = "idempotency_key_reused"
    case noThumbnail = "no_thumbnail"
    case unanswerable
    case signInRefused = "sign_in_refused"
    case failedDependency = "failed_dependency"
    case tooManyRequests = "too_many_requests"
    case headTooLarge = "head_too_large"
    case serverError = "server_error"
    case unknownCoding = "unknown_coding"
    case upstreamFailed = "upstream_failed"
    case unavailable
    case upstreamUnreachable = "upstream_unreachable"
    case notLeader = "not_leader"
    case upstreamTimeout = "upstream_timeout"
    case onlyIfCached = "only_if_cached"
    case unknownVersion = "unknown_version"

    /// The page that explains it, where the package installs it.
    var type: String { "file:///usr/share/doc/repairminder-sync/errors.md#\(rawValue)" }

    var title: String { Self.titles[status] ?? "" }

    private static let titles = [
        400: "Bad request", 401: "Unauthorized", 403: "Forbidden", 404: "Not found", 405: "Method not allowed",
        408: "Request timeout", 409: "Conflict", 410: "Gone", 412: "Precondition failed", 413: "Content too large",
        414: "URI too long", 415: "Unsupported media type", 416: "Range not satisfiable", 417: "Expectation failed",
        422: "Unprocessable content", 424: "Failed dependency", 429: "Too many requests",
        431: "Request header fields too large",
        500: "Internal server error", 501: "Not implemented", 502: "Bad gateway", 503: "Unavailable",
        504: "Gateway timeout", 505: "HTTP version not supported",
    ]

    var status: Int {
        switch self {
        case .malformedPath, .malformedQuery, .malformedJSON, .malformedRequest, .unknownParameter, .repeatedParameter,
            .missingParameter, .invalidParameter, .ambiguousID, .conflictingParameters, .invalidHeader, .invalidBody,
            .unexpectedBody, .incompleteBody:
            400
        case .tokenRequired: 401
        case .foreignHost, .foreignPage: 403
        case .noSuchAddress, .unknownEntity, .notFound, .notListed, .notCached: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .conflict, .busy, .hasDependents, .paused: 409
        case .gone: 410
        case .versionMismatch: 412
        case .contentTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedMediaType: 415
        case .rangeNotSatisfiable: 416
        case .unknownExpectation: 417
        case .invalidFields, .batchRefused, .idempotencyKeyReused, .noThumbnail, .unanswerable,
            .signInRefused:
            422
        case .failedDependency: 424
        case .tooManyRequests: 429
        case .headTooLarge: 431
        case .serverError: 500
        case .unknownCoding: 501
        case .upstreamFailed: 502
        case .unavailable, .upstreamUnreachable, .notLeader: 503
        case .upstreamTimeout, .onlyIfCached: 504
        case .unknownVersion: 505
        }
    }
}
