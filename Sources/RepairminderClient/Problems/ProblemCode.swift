/// What went wrong, for programs: the codes of docs/errors.md. New ones may come, so a `switch` needs a `default`.
public struct ProblemCode: OpenName {
    /// The code: `invalid_fields`.
    public let rawValue: String

    /// Any code, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    // MARK: Of a request

    /// The path has a broken %-escape or is not UTF-8 (400).
    public static let malformedPath: ProblemCode = "malformed_path"
    /// The query has a broken %-escape or is not UTF-8 (400).
    public static let malformedQuery: ProblemCode = "malformed_query"
    /// The body is not JSON (400).
    public static let malformedJSON: ProblemCode = "malformed_json"
    /// The request is not HTTP (400).
    public static let malformedRequest: ProblemCode = "malformed_request"
    /// The call has no such parameter (400).
    public static let unknownParameter: ProblemCode = "unknown_parameter"
    /// A parameter is given more than once (400).
    public static let repeatedParameter: ProblemCode = "repeated_parameter"
    /// A parameter is required (400).
    public static let missingParameter: ProblemCode = "missing_parameter"
    /// A parameter has a value that cannot be used (400).
    public static let invalidParameter: ProblemCode = "invalid_parameter"
    /// Two parameters or header fields contradict each other (400).
    public static let conflictingParameters: ProblemCode = "conflicting_parameters"
    /// Several records have the value of a natural field (400).
    public static let ambiguousID: ProblemCode = "ambiguous_id"
    /// A header field has a value that cannot be used (400).
    public static let invalidHeader: ProblemCode = "invalid_header"
    /// A member of the body cannot be used (400).
    public static let invalidBody: ProblemCode = "invalid_body"
    /// The call takes no body (400).
    public static let unexpectedBody: ProblemCode = "unexpected_body"
    /// The body is empty or ended early (400).
    public static let incompleteBody: ProblemCode = "incomplete_body"
    /// The caller is unknown, or `listen.tcp_without_token` asks everybody for the token (401).
    public static let tokenRequired: ProblemCode = "token_required"
    /// Host names another machine (403).
    public static let foreignHost: ProblemCode = "foreign_host"
    /// A web page of another site sent the request (403).
    public static let foreignPage: ProblemCode = "foreign_page"
    /// There is nothing at this address (404).
    public static let noSuchAddress: ProblemCode = "no_such_address"
    /// The schema has no such entity (404).
    public static let unknownEntity: ProblemCode = "unknown_entity"
    /// It does not exist: the upstream or the cache knows for sure (404).
    public static let notFound: ProblemCode = "not_found"
    /// The upstream's whole list lacks it, and the upstream cannot be asked for it by itself (404).
    public static let notListed: ProblemCode = "not_listed"
    /// The cache does not have it and cannot know now whether it exists (404).
    public static let notCached: ProblemCode = "not_cached"
    /// The address or the schema does not allow the method (405).
    public static let methodNotAllowed: ProblemCode = "method_not_allowed"
    /// The request did not arrive in time (408).
    public static let requestTimeout: ProblemCode = "request_timeout"
    /// Not possible in the current state (409).
    public static let conflict: ProblemCode = "conflict"
    /// A change that it is about is being sent (409).
    public static let busy: ProblemCode = "busy"
    /// Other changes depend on it (409).
    public static let hasDependents: ProblemCode = "has_dependents"
    /// Syncing is paused (409).
    public static let paused: ProblemCode = "paused"
    /// A place in the change log, or the outcome of a write, is no longer kept (410).
    public static let gone: ProblemCode = "gone"
    /// The version is not one that If-Match or if_match names, or is one that If-None-Match names (412).
    public static let versionMismatch: ProblemCode = "version_mismatch"
    /// The body is over its limit, or the records of a batch are (413).
    public static let contentTooLarge: ProblemCode = "content_too_large"
    /// The request line is over 8 KiB (414).
    public static let targetTooLong: ProblemCode = "target_too_long"
    /// The body has another type than the call takes (415).
    public static let unsupportedMediaType: ProblemCode = "unsupported_media_type"
    /// The range is outside the content (416).
    public static let rangeNotSatisfiable: ProblemCode = "range_not_satisfiable"
    /// Expect names something other than 100-continue (417).
    public static let unknownExpectation: ProblemCode = "unknown_expectation"
    /// Fields of the body do not fit the schema (422).
    public static let invalidFields: ProblemCode = "invalid_fields"
    /// Operations of a batch were refused, so none was done (422).
    public static let batchRefused: ProblemCode = "batch_refused"
    /// Another request had this Idempotency-Key (422).
    public static let idempotencyKeyReused: ProblemCode = "idempotency_key_reused"
    /// The picture can have no thumbnail (422).
    public static let noThumbnail: ProblemCode = "no_thumbnail"
    /// The cache does not have what the figures need (422).
    public static let unanswerable: ProblemCode = "unanswerable"
    /// The upstream did not accept the answers to its sign-in (422).
    public static let signInRefused: ProblemCode = "sign_in_refused"
    /// The operation refers to a record whose creation in the same batch was refused (424).
    public static let failedDependency: ProblemCode = "failed_dependency"
    /// The caller asks too often (429).
    public static let tooManyRequests: ProblemCode = "too_many_requests"
    /// The header fields are over 16 KiB, or more than 100 (431).
    public static let headTooLarge: ProblemCode = "head_too_large"
    /// The daemon has a fault (500).
    public static let serverError: ProblemCode = "server_error"
    /// The body has a transfer coding other than chunked (501).
    public static let unknownCoding: ProblemCode = "unknown_coding"
    /// The upstream answered with an error (502).
    public static let upstreamFailed: ProblemCode = "upstream_failed"
    /// The daemon cannot do it right now (503).
    public static let unavailable: ProblemCode = "unavailable"
    /// The upstream is unreachable (503).
    public static let upstreamUnreachable: ProblemCode = "upstream_unreachable"
    /// Another daemon takes the changes of this account (503).
    public static let notLeader: ProblemCode = "not_leader"
    /// The upstream did not answer in time (504).
    public static let upstreamTimeout: ProblemCode = "upstream_timeout"
    /// It is not cached, and Cache-Control: only-if-cached was sent (504).
    public static let onlyIfCached: ProblemCode = "only_if_cached"
    /// The request is of another version than HTTP/1.1 and HTTP/1.0 (505).
    public static let unknownVersion: ProblemCode = "unknown_version"

    // MARK: Of a field

    /// The entity has no such field.
    public static let unknownField: ProblemCode = "unknown_field"
    /// The body has it twice.
    public static let repeatedField: ProblemCode = "repeated_field"
    /// A new record needs it, or the record needs it to be sent.
    public static let missingField: ProblemCode = "missing_field"
    /// It cannot be written: a computed field, or the key of a record.
    public static let readOnlyField: ProblemCode = "read_only_field"
    /// The upstream does not accept it here.
    public static let unsendableField: ProblemCode = "unsendable_field"
    /// It cannot be null.
    public static let nullNotAllowed: ProblemCode = "null_not_allowed"
    /// The value has another type than the field.
    public static let wrongType: ProblemCode = "wrong_type"
    /// The enum has no such value.
    public static let unknownValue: ProblemCode = "unknown_value"
    /// The key of a new record is empty, too long or of another form.
    public static let invalidKey: ProblemCode = "invalid_key"
    /// Any other reason; see `message`.
    public static let invalidValue: ProblemCode = "invalid_value"
}
