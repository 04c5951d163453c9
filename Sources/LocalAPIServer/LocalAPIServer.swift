package import CacheStore
package import EntitySchema
internal import JSONText
package import Logging
package import Pictures
internal import SQLiteStore
package import SocketServer
package import SyncEngine

/// The local API: turns each request into an answer, from the cache, at once.
///
/// A value that a server's handler calls; it keeps nothing between requests but how many streams are open.
package struct LocalAPIServer: Sendable {
    let schema: EntitySchema
    let store: CacheStore
    let engine: SyncEngine
    let about: About
    let now: @Sendable () -> Timestamp
    /// Measures how long callers wait.
    let clock: any Clock<Duration>
    let streams: StreamLimit
    /// By whose days the dashboard counts.
    let calendar: DashboardCalendar
    let metrics: Metrics
    /// Nil where no thumbnails are made.
    let thumbnailer: Thumbnailer?
    private let callers: CallerGuard
    let log: Logger

    /// What the status says of the daemon itself.
    package struct About: Sendable {
        package var version: String
        package var startedAt: Timestamp

        package init(version: String, startedAt: Timestamp) {
            self.version = version
            self.startedAt = startedAt
        }
    }

    package init(
        schema: EntitySchema, store: CacheStore, engine: SyncEngine, callers: CallerGuard, about: About,
        calendar: DashboardCalendar = .utc, metrics: Metrics = Metrics(uptime: { .zero }),
        now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration> = ContinuousClock(),
        streamLimit: Int = 64, thumbnailer: Thumbnailer? = nil, log: Logger
    ) {
        self.schema = schema
        self.store = store
        self.engine = engine
        self.callers = callers
        self.about = about
        self.calendar = calendar
        self.metrics = metrics
        self.now = now
        self.clock = clock
        self.thumbnailer = thumbnailer
        streams = StreamLimit(streamLimit)
        self.log = log
    }

    /// Never throws and never answers 500 for anything a caller sent.
    package func respond(to request: Request) async -> Response {
        let start = metrics.uptime()
        var route = RouteTemplate.other
        let response = await respond(to: request, &route)
        metrics.record(
            route: route, method: request.method, status: response.status, duration: metrics.uptime() - start)
        return response
    }

    /// Sets `route` as soon as it is known.
    private func respond(to request: Request, _ route: inout String) async -> Response {
        do throws(Problem) {
            try callers.check(request)
            let segments = try Self.segments(of: request.path)
            route = RouteTemplate.of(segments, schema)
            guard let resource = try resource(at: segments) else {
                throw .notFound("there is nothing at \(request.path.prefix(200)); GET /v1/status is a good start")
            }
            // HEAD is GET whose body the server leaves out.
            guard let handler = resource[request.method == "HEAD" ? "GET" : request.method] else {
                throw .methodNotAllowed(resource.methods, of: resource.entity)
            }
            return try await answer(request, handler)
        } catch {
            return error.response
        }
    }

    private func answer(_ request: Request, _ handler: Resource.Handler) async throws(Problem) -> Response {
        do {
            return try await handler(request)
        } catch let problem as Problem {
            throw problem
        } catch let error as CacheError {
            if case .failed(let message) = error { log.error("a request failed", metadata: ["error": "\(message)"]) }
            throw Problem(error)
        } catch {
            log.error("a request failed", metadata: ["path": "\(request.path)", "error": "\(error)"])
            throw .unavailable("this could not be answered right now; the daemon's log says why")
        }
    }

    private static func segments(of path: String) throws(Problem) -> [String] {
        var segments: [String] = []
        for part in path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = PercentCoding.decode(Substring(part)), !segment.utf8.contains(0) else {
                throw .badRequest("the path holds a broken %-escape, or what is not UTF-8 text")
            }
            segments.append(segment)
        }
        return segments
    }

    func entity(_ name: String) throws(Problem) -> Entity {
        guard let entity = schema[name] else {
            let near = Suggestion.nearest(to: name, among: schema.entities.map(\.name))
            let hint = near.map { "; did you mean \($0)?" } ?? "."
            throw .notFound(
                "this system has no \(name)\(hint) It has \(schema.entities.map(\.name).joined(separator: ", "))")
        }
        return entity
    }
}
