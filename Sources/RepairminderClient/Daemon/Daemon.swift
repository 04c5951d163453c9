/// The daemon itself: `client.daemon`.
public struct Daemon: Sendable {
    let caller: Caller

    // MARK: Syncing

    /// The state of syncing and of the queue.
    public func status() async throws(ClientError) -> DaemonStatus {
        try await caller.document(.get(PathText.path("status")), as: DaemonStatus.self)
    }

    /// Starts a sync, or joins the running one, and waits for its end if asked to.
    ///
    /// With `wait` the problem is `.upstreamFailed`, `.upstreamUnreachable` or `.paused` if there can be none.
    @discardableResult
    public func sync(
        _ request: SyncRequest = SyncRequest(), wait: Bool = false
    ) async throws(ClientError) -> DaemonStatus {
        let query = wait ? [QueryItem("wait", "true")] : []
        var call = Call(
            method: "POST", path: PathText.path("sync"), query: query, body: .json(request.json), isRepeatable: true)
        // A first sync reads everything.
        if wait { call.wait = .seconds(3600) }
        return try await caller.document(call, as: DaemonStatus.self)
    }

    /// Pauses sending and pulling; reads and writes of the cache go on.
    @discardableResult
    public func pause() async throws(ClientError) -> DaemonStatus { try await post("pause") }

    /// Ends the pause.
    @discardableResult
    public func resume() async throws(ClientError) -> DaemonStatus { try await post("resume") }

    private func post(_ name: String) async throws(ClientError) -> DaemonStatus {
        let call = Call(method: "POST", path: PathText.path("sync", name), isRepeatable: true)
        return try await caller.document(call, as: DaemonStatus.self)
    }

    // MARK: Reports

    /// Where the upstream's records and the schema disagree.
    public func drift() async throws(ClientError) -> Drift {
        try await caller.document(.get(PathText.path("drift")), as: Drift.self)
    }

    /// What the daemon has done in the last hours and days: members `minutes` and `hours`.
    public func activity() async throws(ClientError) -> JSONObject {
        try await object(.get(PathText.path("_activity")))
    }

    /// What the daemon finds when it checks itself and its machine: member `data`, each with `check`, `level`, `message` and
    /// `advice`.
    public func findings() async throws(ClientError) -> JSONObject { try await object(.get(PathText.path("_doctor"))) }

    /// The hooks of the configuration, and how far each is: member `data`.
    public func hooks() async throws(ClientError) -> JSONObject { try await object(.get(PathText.path("_hooks"))) }

    /// One hook, with its parked deliveries.
    public func hook(_ name: String) async throws(ClientError) -> JSONObject {
        try await object(.get(PathText.path("_hooks", name)))
    }

    /// What can be done with a hook.
    public enum HookAction: String, Sendable, CaseIterable {
        case pause, resume, skip, retry, discard
    }

    /// `parked`: which delivery to retry or discard; nil for all.
    @discardableResult
    public func hook(
        _ name: String, _ action: HookAction, parked: Int? = nil, key: IdempotencyKey? = nil
    ) async throws(ClientError) -> JSONObject {
        let path = PathText.path("_hooks", name, action.rawValue)
        guard let parked else { return try await object(Call.write("POST", path, key: key)) }
        let body: JSONValue = ["id": .number(JSONNumber(parked))]
        return try await object(Call.write("POST", path, body: body, key: key))
    }

    /// The figures of the schema's dashboard: `period` is `today`, `this_month`, …; with a user, for that one alone.
    public func dashboard(period: String = "today", user: String? = nil) async throws(ClientError) -> JSONObject {
        var query = [QueryItem("period", period)]
        if let user { query += [QueryItem("scope", "user"), QueryItem("user", user)] }
        return try await object(.get(PathText.path("dashboard"), query))
    }

    /// What there is: the entities with their addresses, and the daemon's own calls.
    public func index() async throws(ClientError) -> JSONObject { try await object(.get("/v1")) }

    /// The schema that the daemon runs with.
    public func schema() async throws(ClientError) -> JSONObject { try await object(.get(PathText.path("schema"))) }

    /// One entity of the schema.
    public func schema(of entity: String) async throws(ClientError) -> JSONObject {
        try await object(.get(PathText.path("schema", entity)))
    }

    /// The description of the API in OpenAPI 3.1.
    public func openAPI() async throws(ClientError) -> JSONObject { try await object(.get("/openapi.json")) }

    /// Metrics in Prometheus's text format.
    public func metrics() async throws(ClientError) -> String { try await text("/metrics") }

    /// Whether the cache can be read, even while the upstream is unreachable; throws if the daemon does not answer.
    public func isReady() async throws(ClientError) -> Bool {
        do throws(ClientError) {
            return try await text("/readyz").hasPrefix("ready")
        } catch {
            guard error.problem != nil else { throw error }
            return false
        }
    }

    // MARK: Signing in

    /// The ways to sign in to the upstream, and whether someone has to: `ways`, `needed`.
    public func signInWays() async throws(ClientError) -> JSONObject {
        try await object(.get(PathText.path("_sign-in")))
    }

    /// Begins a sign-in: `id`, and `questions` to ask a person.
    public func beginSignIn(way: String) async throws(ClientError) -> JSONObject {
        try await signIn(["way": .string(way)])
    }

    /// Sends the answers; more `questions`, or `signed_in`. The problem is `.signInRefused` if they are wrong.
    public func continueSignIn(_ id: String, answers: JSONObject) async throws(ClientError) -> JSONObject {
        try await signIn(["id": .string(id), "answers": .object(answers)])
    }

    /// Never repeated by itself: an answer may be used up.
    private func signIn(_ body: JSONValue) async throws(ClientError) -> JSONObject {
        try await object(
            Call(method: "POST", path: PathText.path("_sign-in"), body: .json(body), isRepeatable: false))
    }

    private func object(_ call: Call) async throws(ClientError) -> JSONObject {
        guard let object = try await caller.json(call).body.object else {
            throw .unexpected("\(call.path) answered no object; is the daemon much older?")
        }
        return object
    }

    private func text(_ path: String) async throws(ClientError) -> String {
        var call = Call.get(path)
        call.headers = [HeaderField("Accept", "text/plain")]
        return String(decoding: try await caller.response(call).body.collect(), as: UTF8.self)
    }
}

/// What a sync reads.
public struct SyncRequest: Sendable, Hashable {
    /// Only these entities; all if empty.
    public var entities: [String]
    /// Everything, not only what changed.
    public var isFull: Bool
    /// With a full sync: deletes all records that the upstream no longer lists, whatever cannot be confirmed.
    public var deletesUnlisted: Bool

    /// A sync of what has changed.
    public init(entities: [String] = [], isFull: Bool = false, deletesUnlisted: Bool = false) {
        self.entities = entities
        self.isFull = isFull
        self.deletesUnlisted = deletesUnlisted
    }

    var json: JSONValue {
        var json = JSONObject()
        if !entities.isEmpty { json["entities"] = .array(entities.map(JSONValue.string)) }
        if isFull { json["full"] = true }
        if deletesUnlisted { json["delete"] = true }
        return .object(json)
    }
}
