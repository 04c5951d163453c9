package import CacheStore
internal import EntitySchema
internal import JSONText
internal import LocalAPI
internal import Logging
internal import SQLiteStore
package import SocketServer
package import SyncEngine

/// The local API: answers each request from the cache, at once.
///
/// A server's handler calls it. It keeps nothing between requests but the number of open streams; it is a class so that an
/// answer that comes later need not copy it.
package final class LocalAPIServer: Sendable {
    let handlers: Handlers
    let router: Router
    private let callers: CallerGuard
    private let refusals: RefusalLog
    private let ids: RequestIDs
    private let compression = CompressionThread()
    /// False if records have sealed values, which are on no disk in the clear.
    private let mayBeKept: Bool

    package init(
        store: CacheStore, engine: SyncEngine, callers: CallerGuard, about: DaemonDescription,
        calendar: DashboardCalendar = .utc, parts: DaemonParts = DaemonParts(), runtime: APIRuntime
    ) {
        self.callers = callers
        ids = runtime.ids
        mayBeKept = !store.schema.entities.contains { $0.fields.contains(where: \.sealed) }
        refusals = RefusalLog(metrics: runtime.metrics, log: runtime.log)
        let table = RouteTable(store.schema)
        router = Router(table, store.schema)
        handlers = Handlers(
            schema: store.schema, store: store, engine: engine, callers: callers, parts: parts, about: about,
            now: runtime.now, clock: runtime.clock, places: runtime.places, calendar: calendar,
            metrics: runtime.metrics, calls: table.calls, log: runtime.log)
    }

    /// Replies at once to reads that need nothing but the cache. Never answers 500 for anything a caller sends.
    package func reply(to request: consuming Request) -> Reply {
        let start = handlers.metrics.uptime()
        var label = RouteLabels.other
        let request = named(request)
        switch step(request, &label) {
        case .answered(let response): return answered(response, request, label, start)
        case .found(let held, let id, let mistakes):
            return .later { [self, label] in
                await finished(
                    completed(await answer(request, held.route, id, mistakes), request), request, label, start)
            }
        }
    }

    /// The same for a caller that can wait.
    package func respond(to request: Request) async -> Response {
        switch reply(to: request) {
        case .now(let response): response
        case .later(let work): await work()
        }
    }

    private func completed(_ response: consuming Response, _ request: Request) -> Response {
        AnswerHeaders.complete(&response, to: request, mayBeKept: mayBeKept)
        AnswerCompression.apply(to: &response, for: request, on: compression)
        return response
    }

    private func answered(
        _ response: consuming Response, _ request: Request, _ label: String, _ start: Duration
    ) -> Reply {
        guard AnswerCompression.takesLong(response, for: request) else {
            return .now(measured(response, request, label, start))
        }
        return .later { [self, response = consume response] in await finished(response, request, label, start) }
    }

    /// A large answer is still to be compressed.
    private func finished(
        _ response: consuming Response, _ request: Request, _ label: String, _ start: Duration
    ) async -> Response {
        let response = await AnswerCompression.compressed(response, for: request, on: compression)
        return measured(response, request, label, start)
    }

    private func measured(
        _ response: consuming Response, _ request: Request, _ label: String, _ start: Duration
    ) -> Response {
        let metrics = handlers.metrics
        metrics.record(
            route: label, method: request.method, status: response.status, duration: metrics.uptime() - start)
        return response
    }

    /// The limit of the body in bytes for a request whose body streams; nil for all others.
    package func streamLimit(_ method: String, _ path: String) -> Int? {
        guard method == "PUT" else { return nil }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return router.match(segments)?.place.route(for: method)?.route.streamLimit
    }

    /// The limit of the body in bytes for a call that is open to all; nil for others.
    ///
    /// The bodies of all requests share their memory, and strangers must not take it from those who may write.
    package func bodyLimit(_ path: String) -> Int? { router.isOpen(path) ? 1024 : nil }

    /// Refuses a caller that may not call, before its body takes memory; nil for others.
    package func refusal(ofHead request: Request) -> Response? {
        do throws(Problem) {
            try callers.checkHead(request, isOpen: router.isOpen(request.path))
            return nil
        } catch {
            let request = named(request)
            var response = refused(error, request)
            AnswerHeaders.complete(&response, to: request)
            handlers.metrics.record(
                route: RouteLabels.other, method: request.method, status: response.status, duration: .zero)
            return response
        }
    }

    /// How far a request gets without waiting.
    private enum Step {
        /// With all header fields.
        case answered(Response)
        /// The route whose handler has to answer it, with its id and the mistakes so far.
        case found(HeldRoute, String, Mistakes)
    }

    /// Sets `label`, the metric label, as soon as the route is known.
    private func step(_ request: Request, _ label: inout String) -> Step {
        do throws(Problem) {
            let segments = try checked(request)
            guard MarkRun.areShort(inJSON: request.body[...]) else { throw Self.tooManyMarks }
            guard let match = router.match(segments) else {
                label = router.label(of: segments)
                throw nothing(at: segments, of: request.path)
            }
            label = match.place.label
            guard let held = match.place.route(for: request.method) else {
                if request.method == "OPTIONS" { return .answered(completed(match.place.options, request)) }
                throw match.place.refusal(of: request.method)
            }
            let mistakes = try held.route.shape.mistakes(of: request)
            if !held.route.shape.findsMore { try mistakes.throwAny() }
            return mistakes.isEmpty ? try atOnce(request, held, match.id) : .found(held, match.id, mistakes)
        } catch {
            return .answered(completed(refused(error.explainingPlus(in: request), request), request))
        }
    }

    /// The segments of its path, if the caller may call.
    private func checked(_ request: Request) throws(Problem) -> [String] {
        do throws(Problem) {
            try callers.check(request, isOpen: router.isOpen(request.path))
        } catch {
            // Where the method is wrong, another type of body is no help: content is sent by PUT, not as JSON by POST.
            guard error.code == .unsupportedMediaType,
                let place = router.match(try Self.segments(of: request.path))?.place,
                request.method != "OPTIONS", place.route(for: request.method) == nil
            else { throw error }
            throw place.refusal(of: request.method)
        }
        return try Self.segments(of: request.path)
    }

    /// The route's handler has to answer what may take long.
    private func atOnce(_ request: Request, _ held: HeldRoute, _ id: String) throws(Problem) -> Step {
        do {
            guard let reader = held.route.reader else { return .found(held, id, Mistakes()) }
            let key = try held.route.key?(handlers, id) ?? id
            guard let response = try reader(handlers, request, key) else { return .found(held, id, Mistakes()) }
            try EntityTag.requireMatch(response.tag, of: request)
            return .answered(completed(response, request))
        } catch {
            throw problem(error, request, held.route)
        }
    }

    private func named(_ request: consuming Request) -> Request {
        request.id = ids.id(of: request)
        return request
    }

    /// An unknown caller of the page is asked for the token, in a browser.
    private func refused(_ problem: Problem, _ request: Request) -> Response {
        if let refusal = problem.refusal { refusals.note(refusal, request) }
        let isPage = request.path == PathTemplate.statusPage.text && problem.code == .tokenRequired
        return isPage ? SessionPage.response(to: problem) : problem.response(to: request)
    }

    private func answer(_ request: Request, _ route: Route, _ id: String, _ mistakes: Mistakes) async -> Response {
        do throws(Problem) {
            return try await handled(request, route, id, mistakes)
        } catch {
            return refused(error.explainingPlus(in: request), request)
        }
    }

    private func handled(
        _ request: Request, _ route: Route, _ id: String, _ mistakes: Mistakes
    ) async throws(Problem) -> Response {
        do {
            let key = try route.key?(handlers, id) ?? id
            let response: Response
            // In two branches, so that the common case does not copy the handlers.
            if mistakes.isEmpty {
                response = try await route.handler(handlers, request, key)
            } else {
                response = try await route.handler(handlers.noting(mistakes), request, key)
            }
            if route.isRead { try EntityTag.requireMatch(response.tag, of: request) }
            return response
        } catch {
            throw problem(error, request, route)
        }
    }

    /// The problem that an error of a handler is answered as.
    private func problem(_ error: any Error, _ request: Request, _ route: Route) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case is CancellationError: return .unavailable("the daemon stops, or no caller waits for the answer")
        case CacheError.notCached(let entity, let key):
            guard route.isRead, Freshness.isOnlyIfCached(request) else {
                return handlers.missingUnread(entity, key)
            }
            return handlers.onlyIfCached(entity, key)
        case let error as CacheError:
            if let fault = error.fault {
                handlers.log.error(
                    "a request failed", metadata: ["error": "\(fault)", "request_id": "\(request.id)"])
            }
            return Problem(error)
        default:
            handlers.log.error(
                "a request failed",
                metadata: ["path": "\(request.path)", "error": "\(error)", "request_id": "\(request.id)"])
            return .unavailable("the request could not be answered right now; see the daemon's log")
        }
    }

    private static var tooManyMarks: Problem {
        .body("", "a text in the body has more than \(MarkRun.longest) combining marks in a row")
    }

    private static func segments(of path: String) throws(Problem) -> [String] {
        guard let segments = PercentCoding.segments(path), !segments.contains(where: QueryParameters.hasNUL) else {
            throw Problem(
                .malformedPath,
                "the path has a broken %-escape, a NUL or too many combining marks in a row, or is not UTF-8 text")
        }
        return segments
    }

    /// Why there is no route at an address.
    private func nothing(at segments: [String], of path: String) -> Problem {
        guard !segments.contains("") else {
            let advice =
                path.hasSuffix("/") ? "leave out the slash at its end" : "one of two slashes in a row is too many"
            return Problem(
                .noSuchAddress, "there is nothing at \(path.prefix(200)); \(advice), or something is missing after it")
        }
        guard segments[0] == "v1", (2...4).contains(segments.count) else {
            return Problem(.noSuchAddress, "there is nothing at \(path.prefix(200)); start with GET /v1")
        }
        // The daemon's own calls: no entity can have such a name.
        guard !segments[1].hasPrefix("_"), !EntitySchema.reservedEntityNames.contains(segments[1]) else {
            return Problem(.noSuchAddress, "there is nothing at \(path.prefix(200)); see GET /openapi.json")
        }
        do throws(Problem) {
            let entity = try handlers.entity(segments[1])
            let last = segments.last ?? ""
            // Every record has a history; only some entities have content.
            guard !EntitySchema.reservedRelationNames.contains(last) else {
                return Problem(.noSuchAddress, "\(entity.name) have no content")
            }
            let known = entity.relations.map(\.name).joined(separator: ", ")
            return Problem(
                .noSuchAddress,
                "\(entity.name) have no \(last); they have \(known.isEmpty ? "no relations" : known)")
        } catch {
            return error
        }
    }
}
