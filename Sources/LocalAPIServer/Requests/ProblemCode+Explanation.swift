internal import SQLiteStore

/// What each code means, for the OpenAPI document and docs/errors.md.
extension ProblemCode {
    /// When a request gets it, and what to do then: two phrases.
    var explanation: (when: String, remedy: String) {
        switch self {
        case .malformedPath: ("the path is not UTF-8, or has a NUL", "encode it")
        case .malformedQuery: ("the query is not UTF-8, or has a NUL", "encode it; a + in a value is %2B")
        case .malformedJSON: ("the body is not JSON", "correct it at the byte that detail names")
        case .malformedRequest:
            (
                "the request is not HTTP, or its target has a broken %-escape, or lacks one",
                "see detail; `curl -G --data-urlencode 'q=Zoë'` escapes a value"
            )
        case .unknownParameter: ("the call has no such parameter", "correct its name; detail lists those that it has")
        case .repeatedParameter: ("a parameter is given more than once", "send it once")
        case .missingParameter: ("a parameter is required", "add it")
        case .invalidParameter: ("a parameter has a value that cannot be used", "correct it")
        case .conflictingParameters: ("two parameters or header fields contradict each other", "leave one out")
        case .ambiguousID: ("several records have the value of a natural field", "use an id; detail lists them")
        case .invalidHeader: ("a header field has a value that cannot be used", "correct it, or leave it out")
        case .invalidBody: ("a member of the body cannot be used", "correct it")
        case .unexpectedBody: ("the call takes no body", "send none")
        case .incompleteBody: ("the body is empty or ended early", "send it again")
        case .tokenRequired:
            (
                "the caller is unknown, or `listen.tcp_without_token` asks everybody for the token",
                "send the token, or call the Unix socket as root or a member of the group"
            )
        case .foreignHost:
            ("Host names another machine, or an address that another user may have", "call what detail names")
        case .foreignPage: ("a web page of another site sent the request", "no such page may call")
        case .noSuchAddress: ("there is nothing at this address", "see /openapi.json")
        case .unknownEntity: ("the schema has no such entity", "correct its name; detail lists them")
        case .notFound: ("it does not exist: the upstream or the cache knows for sure", "forget it")
        case .notListed:
            (
                "the upstream's whole list lacks it, and the upstream cannot be asked for it by itself",
                "correct the id; a record that is newer than the last sync comes with the next"
            )
        case .notCached:
            (
                "the cache does not have it and cannot know now whether it exists",
                "try again after Retry-After; before a write, read the record, which fetches it"
            )
        case .methodNotAllowed: ("the address or the schema does not allow the method", "use one of Allow")
        case .requestTimeout: ("the request did not arrive in time", "send it again")
        case .conflict: ("not possible in the current state", "see detail")
        case .busy: ("the change is being sent", "try again after Retry-After")
        case .hasDependents: ("other changes depend on it", "discard those in dependents first, or add cascade=true")
        case .paused: ("syncing is paused", "POST /v1/sync/resume")
        case .gone:
            ("a place in the change log, or the outcome of a write, is no longer kept", "read the records again")
        case .versionMismatch:
            (
                "the version is not one that If-Match or if_match names, or is one that If-None-Match names",
                "read it again, then decide"
            )
        case .contentTooLarge: ("the body is over its limit, or the records of a batch are", "send less")
        case .targetTooLong: ("the request line is over 8 KiB", "shorten the query")
        case .unsupportedMediaType: ("the body has another type than the call takes", "see Accept or Accept-Patch")
        case .rangeNotSatisfiable: ("the range is outside the content", "see Content-Range")
        case .unknownExpectation: ("Expect names something other than 100-continue", "leave it out")
        case .invalidFields: ("fields of the body do not fit the schema", "correct each in errors")
        case .batchRefused:
            (
                "operations of a batch were refused, so none was done",
                "correct those in errors, or send the others with `\"atomic\": false`"
            )
        case .idempotencyKeyReused: ("another request had this Idempotency-Key", "use a key of its own")
        case .noThumbnail: ("the picture can have no thumbnail", "see detail")
        case .unanswerable: ("the cache does not have what the figures need", "see detail")
        case .signInRefused: ("the upstream did not accept the answers to its sign-in", "correct them; detail says why")
        case .failedDependency:
            ("the operation refers to a record whose creation in the same batch was refused", "correct that one first")
        case .tooManyRequests: ("the caller asks too often", "wait as Retry-After says")
        case .headTooLarge: ("the header fields are over 16 KiB, or more than 100", "send fewer")
        case .serverError: ("the daemon has a fault", "please report it")
        case .unknownCoding: ("the body has a transfer coding other than chunked", "send it without")
        case .upstreamFailed:
            ("the upstream answered with an error, or what it answered cannot be used", "try again later")
        case .unavailable: ("the daemon cannot do it right now", "try again after Retry-After; see detail")
        case .upstreamUnreachable: ("the upstream is unreachable", "try again later")
        case .notLeader: ("another daemon takes the changes of this account", "call the one that detail names")
        case .upstreamTimeout: ("the upstream did not answer in time", "try again")
        case .onlyIfCached: ("it is not cached, and Cache-Control: only-if-cached was sent", "leave that out")
        case .unknownVersion: ("the request is of another version than HTTP/1.1 and HTTP/1.0", "use another client")
        }
    }

    /// What an answer with this status means, for the OpenAPI document: a sentence for each code.
    static func meaning(of status: Int) -> String {
        allCases.filter { $0.status == status }.map { code in
            "\(code.rawValue): \(code.explanation.when); \(code.explanation.remedy)."
        }.joined(separator: " ")
    }
}

extension FieldProblem.Code {
    /// What is wrong with the field.
    var meaning: String {
        switch self {
        case .unknownField: "the entity has no such field"
        case .repeatedField: "the body has it twice"
        case .missingField: "a new record needs it, or the record needs it to be sent"
        case .readOnlyField: "it cannot be written: a computed field, or the key of a record"
        case .unsendableField: "the upstream does not accept it here"
        case .nullNotAllowed: "it cannot be null"
        case .wrongType: "the value has another type than the field"
        case .unknownValue: "the enum has no such value"
        case .invalidKey: "the key of a new record is empty, too long or of another form"
        case .invalidValue: "any other reason; see `message`"
        }
    }
}
