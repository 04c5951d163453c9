/// Why a call failed, by what its caller can do about it.
public enum ClientError: Error, Sendable, Equatable {
    /// The daemon answered with a problem; its `code` says which. Nothing was done.
    case problem(Problem)
    /// Nothing was sent: the daemon is not running, or listens at another address.
    case unreachable(String)
    /// The connection broke before the answer was complete. A write may have been done: repeat it with the same
    /// idempotency key, as the library does by itself a few times.
    case interrupted(String)
    /// An answer that the daemon never gives: another program listens there, or the daemon is much older.
    case unexpected(String)
    /// The task was cancelled. A write may have been done.
    case cancelled

    /// The daemon's problem; nil if there is another reason.
    public var problem: Problem? { if case .problem(let problem) = self { problem } else { nil } }

    /// The code of the daemon's problem; nil if there is another reason.
    public var code: ProblemCode? { problem?.code }
}

extension ClientError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .problem(let problem): problem.description
        case .unreachable(let message), .interrupted(let message), .unexpected(let message): message
        case .cancelled: "the call was cancelled"
        }
    }
}
