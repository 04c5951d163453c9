package import EntitySchema
package import JSONText
package import SocketServer
internal import Synchronization

/// A complete upstream for any schema: the REST API that the schema describes, over records in memory.
///
/// It injects the failures of real upstreams on request (`Faults`) and logs every request (`log`). It needs no socket:
/// `exchange` is the whole API as a function, and `respond` is the same as a handler for a `SocketServer`.
package final class ReferenceUpstream: Sendable {
    package typealias Settings = UpstreamSettings
    package typealias User = UpstreamSettings.User

    private struct State: Sendable {
        var desk: HabitPipeline.Desk
        var injector: FaultInjector
        var log: RequestLog
    }

    let handler: RequestHandler
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let state: Mutex<State>

    /// `records` by entity, in the order of their lists; a record without a key appears only in lists.
    package init(
        schema: EntitySchema, records: [String: [JSONText]] = [:], settings: Settings = Settings(),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Timestamp
    ) {
        handler = RequestHandler(schema: schema, settings: settings)
        self.clock = clock
        self.now = now
        var store = Store(schema: schema, records: records, settings: settings)
        store.adopt(settings.habits, at: now())
        state = Mutex(
            State(
                desk: HabitPipeline.Desk(
                    store: store, memory: IdempotencyMemory(capacity: settings.memory),
                    signIn: settings.user.map { SignIn(plan: schema.upstream, user: $0, seed: settings.seed) }),
                injector: FaultInjector(faults: settings.faults, seed: settings.seed),
                log: RequestLog(capacity: settings.memory)))
    }

    // MARK: Responding

    /// For a `SocketServer`: without a response, the connection is closed.
    package func respond(to request: Request) async -> Response {
        do {
            return try await exchange(request)
        } catch {
            var response = Response(status: 503)
            response.ending = .unanswered
            return response
        }
    }

    /// One request and its response, with the faults that are set.
    ///
    /// Throws when there is no response; `BrokenExchange` says what happened to the request. A truncated response is
    /// returned with its `ending` and the bytes that arrived. A caller that stops waiting must cancel the task.
    package func exchange(_ request: Request) async throws(BrokenExchange) -> Response {
        if request.path.hasPrefix(AdminHandler.prefix) { return administer(request).response }
        let (seq, strike) = arrive(request)
        do {
            if strike.hold > .zero { try await clock.sleep(for: strike.hold) }
        } catch {
            throw .abandoned
        }
        if strike.failure == .offline { throw .refused }
        let answer = apply(request, seq, strike)
        if case .timeoutAfterApply(let hold) = strike.failure {
            try? await clock.sleep(for: hold)
            throw .unanswered
        }
        if case .cutBatch = strike.failure { throw .unanswered }
        if strike.latency > .zero {
            do { try await clock.sleep(for: strike.latency) } catch { throw .unanswered }
        }
        state.withLock { $0.log.amend(seq) { $0.status = answer.status } }
        if let stream = answer.stream { return handler.feed.stream(stream, request) }
        var response = answer.response
        if strike.failure == .cutBody, answer.body.count > 1 {
            response.body = .bytes(Array(answer.body.prefix(answer.body.count / 2)))
            response.ending = .cutOff(length: answer.body.count)
        }
        return response
    }

    private func arrive(_ request: Request) -> (seq: Int, FaultInjector.Strike) {
        let key = handler.idempotencyKey(of: request)
        return state.withLock { state in
            let strike = state.injector.strike(method: request.method, path: request.path)
            let entry = RequestLog.Entry(
                seq: 0, time: now(), method: request.method, path: request.path, query: request.query,
                idempotencyKey: key, fault: strike.name)
            return (state.log.append(entry), strike)
        }
    }

    private func apply(_ request: Request, _ seq: Int, _ strike: FaultInjector.Strike) -> Answer {
        if case .fail(let status, let retryAfter) = strike.failure {
            let refusal = Refusal(
                status: status, code: "injected_fault", message: "this response was injected by a fault rule")
            var answer = Answer.refusal(refusal, handler.envelope)
            if let retryAfter { answer.headers.append(("Retry-After", retryAfter)) }
            return answer
        }
        return state.withLock { state in
            var pipeline = HabitPipeline(handler: handler, now: now())
            if case .cutBatch = strike.failure { pipeline.appliesHalf = true }
            let answer = pipeline.answer(request, &state.desk)
            tell(of: state.desk.store.takeChanged())
            if answer.applied {
                state.log.amend(seq) { entry in
                    entry.applied = true
                    entry.appliedText = answer.appliedText
                }
            }
            return answer
        }
    }

    private func administer(_ request: Request) -> Answer {
        withCurrent { state in
            AdminHandler(handler: handler, request: request, now: now())
                .answer(&state.desk, &state.injector.faults, &state.log)
        }
    }

    /// Calls `body` after everything that is due was applied.
    private func withCurrent<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { (state) throws(Failure) in
            HabitPipeline(handler: handler, now: now()).applyAccepted(&state.desk)
            defer { tell(of: state.desk.store.takeChanged()) }
            return try body(&state)
        }
    }

    /// Sends signals of changed records.
    private func tell(of changed: [(entity: String, key: JSONText)]) {
        handler.feed.add(changed.map { SignalFeed.Change(entity: $0.entity, key: $0.key) })
    }
}

/// A request without a response.
package enum BrokenExchange: Error, Sendable, Equatable {
    /// The upstream is offline: nothing was applied.
    case refused
    /// The caller left while the request was held: nothing was applied.
    case abandoned
    /// The request was applied, and no response came.
    case unanswered
}

// MARK: - Outside the API

extension ReferenceUpstream {
    /// The active rules, with their remaining counts.
    package var faults: Faults {
        get { state.withLock { $0.injector.faults } }
        set { state.withLock { $0.injector.faults = newValue } }
    }

    /// The habits that are set. Setting them changes the records to what they would be under them.
    package var habits: Habits {
        get { state.withLock { $0.desk.store.habits } }
        set {
            withCurrent { HabitPipeline(handler: handler, now: now()).adopt(newValue, &$0.desk) }
        }
    }

    /// How often each habit has changed an answer or a record so far.
    package var effects: [Habit: Int] { state.withLock { $0.desk.store.state.tally.counts } }

    package var log: [RequestLog.Entry] { state.withLock { $0.log.entries } }

    /// The codes that were mailed, oldest first.
    package var mailedCodes: [String] { state.withLock { $0.desk.signIn?.mails.map(\.code) ?? [] } }

    /// The largest body that its server must accept, in bytes.
    package var largestBody: Int { handler.schema.entities.compactMap(\.content?.maximumSize).max() ?? 1 << 20 }

    /// Every live record of an entity, in the order of its list; empty for an unknown one.
    package func records(of entity: String) -> [JSONText] {
        withCurrent { $0.desk.store.records(of: entity) ?? [] }
    }

    /// The live record with this key.
    package func record(_ entity: String, _ key: String) -> JSONText? {
        withCurrent { $0.desk.store.record(entity, key: key) }
    }

    /// Adds a record as a create would, whether or not the schema has a route for it.
    @discardableResult
    package func create(_ fields: JSONText, in entity: String) throws(Refusal) -> JSONText {
        let entity = try handler.entity(entity)
        return try withCurrent { state throws(Refusal) in try state.desk.store.create(fields, in: entity, at: now()) }
    }

    /// Changes the named fields as an update would, whether or not the schema has a route for it.
    @discardableResult
    package func update(_ entity: String, _ key: String, with changes: JSONText) throws(Refusal) -> JSONText {
        let entity = try handler.entity(entity)
        return try withCurrent { state throws(Refusal) in
            try state.desk.store.update(entity, key: key, with: changes, at: now())
        }
    }

    /// Deletes a record as a delete would, whether or not the schema has a route for it.
    package func delete(_ entity: String, _ key: String) throws(Refusal) {
        let entity = try handler.entity(entity)
        try withCurrent { state throws(Refusal) in try state.desk.store.delete(entity, key: key, at: now()) }
    }
}
