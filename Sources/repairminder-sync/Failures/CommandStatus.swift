import LocalAPI

/// The exit status of a command: 0, 2, or a code from sysexits.h.
enum CommandStatus: Int32, CaseIterable, Sendable {
    case done = 0
    case foundError = 1
    case usage = 2
    case badData = 65
    case notFound = 66
    case unreachable = 69
    case internalError = 70
    case outputLost = 74
    case temporaryFailure = 75
    case notAllowed = 77
    case badConfiguration = 78

    var meaning: String {
        switch self {
        case .done: "done"
        case .foundError: "`doctor` or `check-config --probe` found an error"
        case .usage: "invalid command line"
        case .badData: "the daemon rejected the input: a field, a value or a filter"
        case .notFound: "no such record, entity, change or conflict"
        case .unreachable: "the daemon cannot be reached"
        case .internalError: "unexpected response: please report it"
        case .outputLost: "the result could not be written; what was asked for is done"
        case .temporaryFailure: "temporary failure, try again later: offline, busy, disk full or blocked"
        case .notAllowed: "not authorized by the daemon, or the upstream rejected the sign-in"
        case .badConfiguration: "invalid configuration or schema"
        }
    }

    /// Its name for programs, of an error that is not the daemon's. The name of `foundError` is never printed: the
    /// findings are.
    var code: String {
        switch self {
        case .done: "done"
        case .foundError: "found_error"
        case .usage: "usage"
        case .badData: "bad_data"
        case .notFound: "not_found"
        case .unreachable: "daemon_unreachable"
        case .internalError: "internal_error"
        case .outputLost: "output_lost"
        case .temporaryFailure: "temporary_failure"
        case .notAllowed: "not_allowed"
        case .badConfiguration: "bad_configuration"
        }
    }

    init(_ error: LocalAPIError) {
        switch error {
        case .unreachable: self = .unreachable
        case .unexpected: self = .internalError
        case .problem(let problem) where problem.code == "has_dependents": self = .badData
        case .problem(let problem): self.init(httpStatus: problem.status)
        }
    }

    /// Of an answer as it is, whatever its status. `code`: that of the problem, if it is one.
    init(answering status: Int, code: String?) {
        switch (status, code) {
        case (200..<400, _): self = .done
        // As for the other commands, trying again does not help.
        case (409, "conflict"), (409, "has_dependents"): self = .badData
        default: self = CommandStatus(httpStatus: status)
        }
    }

    private init(httpStatus: Int) {
        switch httpStatus {
        case 401, 403: self = .notAllowed
        case 404, 410: self = .notFound
        case 400, 405, 413, 415, 422: self = .badData
        case 408, 409, 412, 429, 502, 503, 504: self = .temporaryFailure
        default: self = .internalError
        }
    }
}
