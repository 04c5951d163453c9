import JSONText
import LocalAPI

/// Follows the daemon's change log, also across its restarts, and misses nothing.
struct ChangeFollower {
    let client: LocalAPIClient
    /// Where to go on; nil from here on.
    private(set) var position: Int?
    private var epoch: String?
    /// There is a daemon, and it has answered.
    var hasBegun: Bool { epoch != nil }

    init(client: LocalAPIClient, since: Int? = nil) {
        self.client = client
        position = since
    }

    /// The next changes, oldest first; empty when none came within `wait` seconds.
    ///
    /// Throws a problem of status 410 when what comes next is not kept any more.
    mutating func next(wait: Int, limit: Int = 1000) async throws(LocalAPIError) -> [JSONText] {
        var query = [(name: "limit", value: "\(limit)")]
        // Without a place to begin at, the first answer tells it at once.
        if let position { query += [("since", "\(position)"), ("wait", "\(wait)")] }
        if let epoch { query.append(("epoch", epoch)) }
        let answer = try await client.get(LocalAPIPaths.changes, query: query)
        guard let data = answer.body?["data"], let next = answer.body?["next"]?.integer,
            let named = answer.body?["epoch"]?.string
        else { throw .unexpected("\(LocalAPIPaths.changes) answered no changes; is the daemon of this version?") }
        position = next
        epoch = named
        return data.elements
    }
}

extension LocalAPIError {
    /// The daemon is away, or about to be: it will be back.
    var isPassing: Bool {
        switch self {
        case .unreachable: true
        case .problem(let problem): problem.status == 503
        case .unexpected: false
        }
    }
}
