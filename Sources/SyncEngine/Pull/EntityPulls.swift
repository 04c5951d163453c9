internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// Pulls every entity that a run asks for, in the schema's order. A failure of one entity does not stop the others.
struct EntityPulls {
    let environment: SyncEnvironment
    let monitor: HealthMonitor
    /// The calling loop's.
    let heartbeat: Heartbeat
    let request: SyncRequest
    /// Changes the status of the run.
    let update: @Sendable (_ change: @Sendable (inout SyncRun) -> Void) async -> Void

    private var store: CacheStore { environment.store }
    private var settings: SyncSettings { environment.settings }

    /// Loaded records are indexed, counted and searchable when this ends, even by an error. `onlyChanges` postpones a full
    /// pull that is due.
    func pull(onlyChanges: Bool = false) async throws {
        do {
            try await pullAll(onlyChanges: onlyChanges)
        } catch {
            try await completeLoading()
            throw error
        }
        try await completeLoading()
        if !onlyChanges {
            let upstream = monitor.guardedUpstream(for: heartbeat, .background)
            try await SettlingReader(environment: environment, upstream: upstream).read()
            try await AbsentReader(environment: environment, upstream: upstream).read()
        }
    }

    private func completeLoading() async throws {
        try await store.completeLoading(at: environment.now())
    }

    private func pullAll(onlyChanges: Bool) async throws {
        let schema = environment.schema
        let lists = Self.inOrder(
            await monitor.inOrder(schema.entities.map(\.name)).compactMap { schema[$0] }
                .filter { $0.pull != nil && isRequested($0) })
        let fetches = schema.entities.compactMap { entity in
            entity.pull?.fetch.map { (entity: entity, fetch: $0) }
        }.filter { isRequested($0.entity) }
        var failed: Set<String> = []
        var delays: [(entity: String, reason: String)] = []
        let count = lists.count + fetches.count { Self.name($0.entity) != $0.entity.name }
        await update { $0.expect(count) }
        for entity in lists {
            let turn = ListTurn(environment.clock) { try await pullOthers(lists, during: entity) }
            guard let summary = try await pullList(of: entity, onlyChanges: onlyChanges, turn) else {
                failed.insert(entity.name)
                continue
            }
            if let delay = summary.delay { delays.append((entity.name, delay)) }
            for detail in entity.pull?.details ?? [] where detail.isInList {
                try await isolatingFailures(of: detail.entity) {
                    if let problem = summary.childProblem { throw UpstreamError.malformed(problem) }
                }
            }
        }
        // What is fetched one record at a time can take long.
        try await completeLoading()
        for (entity, fetch) in fetches {
            // The error of the list stays.
            guard Self.name(entity) != entity.name || !failed.contains(entity.name) else { continue }
            try await pullDetails(of: entity, fetch, onlyChanges: onlyChanges)
        }
        for delay in delays { try await noteFailure(of: delay.entity, delay.reason) }
        try await sweepWindows(failed: failed)
    }

    /// Nil for a failure that concerns this entity only. What changed comes also while a full pull that is due is interrupted or
    /// fails, as by limits or one page that the upstream cannot serve.
    private func pullList(of entity: Entity, onlyChanges: Bool, _ turn: ListTurn) async throws -> PullSummary? {
        let isDue = try !request.full && !onlyChanges && isFullDue(entity)
        // What changed may be more than limits allow: then the full pull goes on first, every other time.
        let goesOn = isDue ? await monitor.takeUnfinishedChanges(of: entity.name) : false
        let isInterrupted = try isDue && !goesOn && store.cursor(of: entity.name).pull?.kind == .everything
        if isInterrupted {
            await monitor.noteUnfinishedChanges(of: entity.name)
            if try await pullChanges(of: entity, turn) { _ = await monitor.takeUnfinishedChanges(of: entity.name) }
        }
        let summary = try await isolatingFailures(of: entity.name) {
            try await pull(entity, full: request.full || isDue, turn)
        }
        if summary == nil, isDue, !isInterrupted { try await pullChanges(of: entity, turn) }
        return summary
    }

    /// Leaves the error of the full pull, and where it goes on. False if they did not come to their end.
    @discardableResult
    private func pullChanges(of entity: Entity, _ turn: ListTurn) async throws -> Bool {
        let full = try store.cursor(of: entity.name)
        guard try isKnownWhatChanged(of: entity, full) else { return true }
        try await store.changeCursor(of: entity.name) { $0.pull = nil }
        var ending: (any Error)?
        var summary: PullSummary?
        do {
            summary = try await isolatingFailures(of: entity.name, readsAll: false) {
                try await pull(entity, full: false, turn)
            }
        } catch {
            ending = error
        }
        try await store.changeCursor(of: entity.name) { ($0.pull, $0.error) = (full.pull, full.error) }
        if let ending { throw ending }
        if let reason = full.error {
            let now = environment.now()
            await update { $0.finished(entity.name, error: reason, at: now) }
        }
        return summary != nil
    }

    /// Whether a pull that need not be full asks for less than everything.
    private func isKnownWhatChanged(of entity: Entity, _ cursor: PullCursor) throws -> Bool {
        guard let plan = entity.pull, plan.window?.opensWithTime != true,
            try store.windowChange(of: entity, since: cursor.window, at: environment.upstreamTime) == .none
        else { return false }
        var cursor = cursor
        cursor.pull = nil
        return PullStart(plan: plan, cursor: cursor, full: false).pull.kind != .everything
    }

    /// What changed in the other lists while that of one entity takes long. Each of them takes one turn at most: the next one goes
    /// on where it stopped.
    ///
    /// A failure that ends the run is wrapped in `ListTurn.Ended`: it is not one of the long list's.
    private func pullOthers(_ lists: [Entity], during long: Entity) async throws {
        do {
            for entity in lists where entity.name != long.name { try await pullForOneTurn(entity) }
            try await completeLoading()
        } catch {
            throw ListTurn.Ended(failure: error)
        }
        await update { $0.continued(long.name) }
    }

    private func pullForOneTurn(_ entity: Entity) async throws {
        // A first load leaves out the records outside of the window that nothing refers to yet.
        if Self.followsReferences(entity), try store.cursor(of: entity.name).lastSyncedAt == nil { return }
        let turn = ListTurn(environment.clock) { throw ListTurn.Ended() }
        do {
            try await isolatingFailures(of: entity.name) { try await pull(entity, full: false, turn) }
        } catch is ListTurn.Ended {}
    }

    private func pullDetails(of entity: Entity, _ fetch: PullPlan.Fetch, onlyChanges: Bool) async throws {
        let name = Self.name(entity)
        try await isolatingFailures(of: name) {
            if let plan = entity.pull { try await store.adoptDetails(plan.detailDefinition, of: entity.name) }
            let details = DetailPuller(
                puller: puller(showing: name), entity: entity, fetch: fetch, parallel: settings.parallel,
                refused: environment.refusedReads, monotonicNow: environment.monotonicNow)
            try await details.pull(all: request.full)
            guard !onlyChanges, !request.full else { return }
            try await details.readAgain { environment.schedule.isFullDue(lastFullAt: $0, at: environment.now()) }
        }
    }

    /// In the schema's order, but records that stay while others refer to them come after those.
    private static func inOrder(_ entities: [Entity]) -> [Entity] {
        entities.filter { !followsReferences($0) } + entities.filter(followsReferences)
    }

    private static func followsReferences(_ entity: Entity) -> Bool { entity.pull?.window?.keepsReferenced ?? false }

    /// `failed`: entities whose status already has an error.
    private func sweepWindows(failed: Set<String>) async throws {
        guard environment.schema.entities.contains(where: { $0.pull?.window != nil }) else { return }
        let upstream = monitor.guardedUpstream(for: heartbeat, .background)
        let outcome = try await WindowSweep(puller: puller(by: upstream)).run(asksAgain: request.full)
        for (entity, count) in outcome.left.sorted(by: { $0.key < $1.key }) {
            environment.log.info(
                "records left their window", metadata: ["entity": "\(entity)", "records": "\(count)"])
        }
        for (entity, problem) in outcome.problems.sorted(by: { $0.key < $1.key }) where !failed.contains(entity) {
            guard !problem.isPassing else {
                try await noteFailure(of: entity, problem.text)
                continue
            }
            // Pulling again soon would not help, so the run does not fail.
            environment.log.warning(
                "records that others refer to are missing",
                metadata: ["entity": "\(entity)", "error": "\(problem.text)"])
            try await setError(problem.text, of: entity)
        }
    }

    /// Under whose name a status shows what is fetched for each record: that of the first children, if there are any.
    private static func name(_ entity: Entity) -> String {
        entity.pull?.details.first { !$0.isInList }?.entity ?? entity.name
    }

    /// Children come with their parents, so a request for children pulls the parents.
    private func isRequested(_ entity: Entity) -> Bool {
        request.includes(entity.name) || entity.pull?.details.contains { request.includes($0.entity) } ?? false
    }

    private func isFullDue(_ entity: Entity) throws -> Bool {
        let last = try store.cursor(of: entity.name).lastFullAt
        return environment.schedule.isFullDue(lastFullAt: last, at: environment.now())
    }

    /// `entity`: under whose name the status shows the progress; nil shows none.
    private func puller(
        showing entity: String? = nil, by upstream: GuardedUpstream? = nil, _ turn: ListTurn? = nil
    ) -> Puller {
        Puller(
            store: store, upstream: upstream ?? monitor.pullUpstream(for: heartbeat), clock: environment.clock,
            now: environment.now, schema: environment.schema,
            serverNow: { [environment] in environment.clockOffset().map { environment.now() + $0 } },
            space: { [store] in store.space },
            deletionGuard: DeletionGuard(share: settings.deleteGuard, confirmed: request.deletes), turn: turn,
            waitsOut: { [monitor, heartbeat] in try await monitor.waitsOut($0, inListOf: $1, by: heartbeat) }
        ) { [update] seen, total in
            if let entity { await update { $0.progressed(entity, seen: seen, total: total) } }
        }
    }

    private func pull(_ entity: Entity, full: Bool, _ turn: ListTurn) async throws -> PullSummary {
        // Which records outside of a window are referred to is looked up for each.
        if Self.followsReferences(entity) { try await completeLoading() }
        await monitor.notePull(of: entity.name)
        try logWindow(of: entity)
        let summary = try await puller(showing: entity.name, turn).pull(entity, full: full)
        environment.measure(.pulled(entity: entity.name, written: summary.written, deleted: summary.deleted))
        environment.log.info(
            "pulled",
            metadata: [
                "entity": "\(entity.name)", "seen": "\(summary.seen)", "written": "\(summary.written)",
                "deleted": "\(summary.deleted)", "set_aside": "\(summary.setAside)",
            ])
        if summary.held > 0 {
            environment.log.warning(
                "records that the upstream no longer lists are kept; confirm with sync --full --delete",
                metadata: [
                    "entity": "\(entity.name)", "records": "\(summary.held)", "reason": "\(summary.heldReason ?? "")",
                ])
        }
        if let problem = summary.problem { throw UpstreamError.malformed(problem) }
        return summary
    }

    private func logWindow(of entity: Entity) throws {
        let cursor = try store.cursor(of: entity.name)
        guard cursor.lastSyncedAt != nil, entity.pull?.window != nil || cursor.window != nil else { return }
        let change = try store.windowChange(of: entity, since: cursor.window, at: environment.upstreamTime)
        guard change != .none else { return }
        environment.log.info(
            "the window is another one than that of the last pull",
            metadata: ["entity": "\(entity.name)", "reads": "\(change.reads)"])
    }

    /// Returns nil for a failure that concerns this entity only, and records it. Throws a failure that every other
    /// request would meet as well.
    ///
    /// `readsAll`: success means that the upstream serves all that is asked for of the entity, so that no limit is known of it.
    @discardableResult
    private func isolatingFailures<Result>(
        of entity: String, readsAll: Bool = true, _ body: () async throws -> Result
    ) async throws -> Result? {
        await update { $0.started(entity) }
        let stopwatch = Stopwatch(environment.clock)
        var outcome = SyncMeasurement.PullOutcome.failed
        defer { environment.measure(.pull(entity: entity, outcome, duration: stopwatch.duration)) }
        do {
            try await monitor.requireMayRead(entity)
            let result = try await body()
            outcome = .completed
            let now = environment.now()
            await update { $0.finished(entity, error: nil, at: now) }
            try await setError(nil, of: entity)
            if readsAll { await monitor.noteReadable(entity) }
            return result
        } catch let failure as UpstreamError {
            let error = try await monitor.meaning(of: failure, toReadsOf: entity, by: heartbeat)
            if error.concernsWholeUpstream {
                outcome = .interrupted
                await update { $0.interrupted(entity) }
                throw error
            }
            try await noteFailure(of: entity, error.message)
            // This failure brought the upstream down: pulling the others would only add failures.
            if await monitor.breaker.isDown, try await !monitor.servesAnother() { throw error }
        } catch let error as CacheError {
            // A database that cannot be written now fails every entity.
            if case .unwritable = error { throw error }
            try await noteFailure(of: entity, "\(error)")
        } catch let ended as ListTurn.Ended {
            outcome = .interrupted
            await update { $0.interrupted(entity) }
            throw ended.failure ?? ended
        }
        return nil
    }

    private func noteFailure(of entity: String, _ message: String) async throws {
        let now = environment.now()
        await update { $0.finished(entity, error: message, at: now) }
        environment.log.error("pull failed", metadata: ["entity": "\(entity)", "error": "\(message)"])
        try await setError(message, of: entity)
    }

    /// Stores the error of the entity's last pull.
    private func setError(_ message: String?, of entity: String) async throws {
        try await store.changeCursor(of: entity) { $0.error = message }
    }
}
