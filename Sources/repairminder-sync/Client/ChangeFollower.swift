import JSONText
import LocalAPI

/// Follows the daemon's change log without gaps, across restarts of the daemon.
struct ChangeFollower {
    let client: LocalAPIClient
    /// The position to continue from; nil starts at the end of the log.
    private(set) var position: Int?
    private var epoch: String?

    /// The pause between attempts to reach a daemon that is down.
    private static let pause = Duration.seconds(1)

    /// Whether the daemon has answered at least once.
    var hasBegun: Bool { epoch != nil }

    init(client: LocalAPIClient, since: Int? = nil) {
        self.client = client
        position = since
    }

    /// The next changes, oldest first; empty when none came within `wait` seconds.
    ///
    /// Throws a problem of status 410 when the log no longer holds the next change.
    mutating func next(wait: Int) async throws(LocalAPIError) -> [JSONText] {
        var query = [(name: "limit", value: "1000")]
        // Without a position, the first answer returns one immediately.
        if let position { query += [("since", "\(position)"), ("wait", "\(wait)")] }
        if let epoch { query.append(("epoch", epoch)) }
        let answer = try await client.get(LocalAPIPaths.changes, query: query)
        guard let data = answer.body?["data"], let next = answer.body?["next"]?.integer,
            let named = answer.body?["epoch"]?.string
        else {
            throw .unexpected("\(LocalAPIPaths.changes) returned no list of changes; is the daemon the same version?")
        }
        position = next
        epoch = named
        return data.elements
    }

    /// Calls `take` with the changes as they happen, without end. Waits for a daemon that goes down.
    ///
    /// Throws if there is no daemon at first, and when the log no longer holds the next change.
    mutating func follow(_ take: ([JSONText]) throws -> Void) async throws -> Never {
        var isDown = false
        while true {
            let changes: [JSONText]
            do throws(LocalAPIError) {
                changes = try await next(wait: 60)
                isDown = false
            } catch {
                guard hasBegun, error.isTemporary else { throw error }
                if !isDown {
                    StandardStream.error.write("repairminder-sync: \(CommandFailure(error).brief); waiting for it\n")
                }
                isDown = true
                try await Task.sleep(for: Self.pause)
                continue
            }
            if !changes.isEmpty { try take(changes) }
        }
    }
}

extension LocalAPIError {
    /// Whether the daemon is down or shutting down and can be expected back.
    var isTemporary: Bool {
        switch self {
        case .unreachable: true
        case .problem(let problem): problem.status == 503
        case .unexpected: false
        }
    }
}
