import LocalAPI

/// How a command ended, for scripts: 0, 2, and the numbers of sysexits.h.
enum CommandStatus: Int32, CaseIterable, Sendable {
    case done = 0
    case usage = 2
    case badData = 65
    case notFound = 66
    case unreachable = 69
    case internalError = 70
    case temporaryFailure = 75
    case notAllowed = 77
    case badConfiguration = 78

    var meaning: String {
        switch self {
        case .done: "done"
        case .usage: "the command line is wrong"
        case .badData: "the daemon refuses what was sent: a field, a value, a filter"
        case .notFound: "there is no such record, entity, change or conflict"
        case .unreachable: "the daemon does not answer"
        case .internalError: "an answer that should not be: please report it"
        case .temporaryFailure: "not now, but later perhaps: offline, busy, disk full, or something stands in the way"
        case .notAllowed: "the daemon does not know the caller, or the upstream refuses the sign-in"
        case .badConfiguration: "the configuration or the schema is wrong"
        }
    }

    init(_ error: LocalAPIError) {
        switch error {
        case .unreachable: self = .unreachable
        case .unexpected: self = .internalError
        case .problem(let problem): self.init(httpStatus: problem.status)
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
