internal import EntitySchema
internal import SocketServer

/// What stands between callers and the server remembers.
struct GatewayState: Sendable {
    /// An answer that may be repeated.
    struct Kept: Sendable {
        var at: Timestamp
        var answer: Answer
    }

    /// A write that was answered with 202.
    struct Accepted: Sendable {
        var request: Request
        var due: Timestamp
    }

    /// By target.
    var kept: [String: Kept] = [:]
    /// In the order of arrival.
    var accepted: [Accepted] = []
    /// The idempotency keys of accepted writes.
    var acceptedKeys: Set<String> = []
    /// The lists that were empty once, with the number of the occurrence.
    var emptied: Set<String> = []
}
