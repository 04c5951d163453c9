internal import CacheStore
package import EntitySchema
internal import JSONText
package import Logging
package import Pictures
internal import SQLiteStore
internal import SocketServer
package import SyncEngine

/// Answers the calls of the API once their route is found. Each file extends it with the calls of one subject.
struct Handlers: Sendable {
    let schema: EntitySchema
    let store: CacheStore
    let engine: SyncEngine
    let callers: CallerGuard
    let parts: DaemonParts
    let about: DaemonDescription
    let now: @Sendable () -> Timestamp
    /// Measures how long callers wait.
    let clock: any Clock<Duration>
    let places: Places
    /// Writes whose callers wait for the upstream.
    let waitingWrites = CallerCount()
    /// Callers that wait for the next entry of the change log, without a stream.
    let waitingForChanges = CallerCount()
    let askedLists = AskedLists()
    let answeredLists = AnsweredLists()
    let entitiesStatus = EntitiesStatus()
    /// The time zone of the dashboard's days.
    let calendar: DashboardCalendar
    let metrics: Metrics
    /// All calls, for the OpenAPI document.
    let calls: [OpenAPICall]
    let log: Logger
    /// Those of the request that are known so far. A handler that finds more (`RequestShape.findsMore`) adds its own to a copy,
    /// and throws all of them before it does anything.
    private(set) var mistakes = Mistakes()

    /// For a request with these mistakes.
    func noting(_ mistakes: Mistakes) -> Handlers {
        var handlers = self
        handlers.mistakes = mistakes
        return handlers
    }

    func entity(_ name: String) throws(Problem) -> Entity {
        guard let entity = schema[name] else {
            let known = schema.entities.map(\.name)
            let hint = Suggestion.hint(for: name, among: known, else: ".")
            throw Problem(
                .unknownEntity, "the schema has no entity \(name)\(hint) It has \(known.joined(separator: ", "))")
        }
        return entity
    }

    /// Runs `body` and cancels it after `limit`; a cancelled `body` returns what it has.
    func within<Result: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask { [clock] in
                try? await clock.sleep(for: limit)
                return nil
            }
            var result: Result?
            while let ended = try await group.next() {
                group.cancelAll()
                result = result ?? ended
            }
            guard let result else { throw CancellationError() }
            return result
        }
    }

    /// `GET /openapi.json`.
    func openAPI() throws -> Response {
        .document(try OpenAPIDocument(schema: schema, version: about.version, calls: calls).json())
    }

    /// The page shows the first 20 changes with errors; the queue has them all.
    func statusPage(_ request: Request) async throws -> Response {
        let troubled = try store.pending(PendingQuery(limit: 20, onlyWithErrors: true)).changes
        return StatusPage(
            status: try await statusDocument(), troubled: troubled, title: schema.title,
            isInSession: (try? callers.hasSession(request)) ?? false
        ).response
    }
}

/// What not every daemon has.
package struct DaemonParts: Sendable {
    /// Nil if no person can sign in to the upstream: the daemon does it, or has a fixed token.
    let signIns: SignInDesk?
    /// Nil for a daemon that stands alone.
    let standby: StandbyPart?
    /// Nil if no thumbnails are made.
    let thumbnailer: Thumbnailer?
    let doctor: Doctor

    package init(
        signIns: SignInDesk? = nil, standby: StandbyPart? = nil, thumbnailer: Thumbnailer? = nil,
        doctor: @escaping Doctor = { _ in [] }
    ) {
        self.signIns = signIns
        self.standby = standby
        self.thumbnailer = thumbnailer
        self.doctor = doctor
    }
}

/// What handlers need from the process they run in.
package struct APIRuntime: Sendable {
    let now: @Sendable () -> Timestamp
    /// Measures how long callers wait.
    let clock: any Clock<Duration>
    let metrics: Metrics
    let places: Places
    let ids: RequestIDs
    let log: Logger

    package init(
        now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration> = ContinuousClock(),
        metrics: Metrics = Metrics(uptime: { .zero }), places: Places = Places(ofEach: 64),
        ids: RequestIDs = RequestIDs(start: 0), log: Logger
    ) {
        self.now = now
        self.clock = clock
        self.metrics = metrics
        self.places = places
        self.ids = ids
        self.log = log
    }
}

/// What the status shows about the daemon itself.
package struct DaemonDescription: Sendable {
    package var version: String
    package var startedAt: Timestamp
    /// What the administrator should know of the configuration in use.
    package var warnings: [String]
    /// What this daemon is called among others, and where it is; empty if not said.
    package var instance: String
    package var site: String
    /// Changes with the schema file; empty if unknown.
    package var schemaHash: String
    /// The number of the signed bundle in use; nil if there is none.
    package var bundle: Int?
    /// Why a newer configuration is not in use; nil when there is none.
    package var rejection: @Sendable () -> String?
    /// Words a command of the program so that it reaches this daemon.
    package var command: @Sendable (String) -> String

    package init(
        version: String, startedAt: Timestamp, warnings: [String] = [], instance: String = "", site: String = "",
        schemaHash: String = "", bundle: Int? = nil, rejection: @escaping @Sendable () -> String? = { nil },
        command: @escaping @Sendable (String) -> String = { "repairminder-sync \($0)" }
    ) {
        self.version = version
        self.startedAt = startedAt
        self.warnings = warnings
        self.instance = instance
        self.site = site
        self.schemaHash = schemaHash
        self.bundle = bundle
        self.rejection = rejection
        self.command = command
    }
}
