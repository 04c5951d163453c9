internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer
internal import SyncEngine

/// Status, and starting, pausing and resuming syncs.
extension Handlers {
    /// Ready means that the database can be read. The upstream may be unreachable.
    func ready() throws -> Response {
        _ = try store.pendingCount()
        return .text("ready\n")
    }

    func status() async throws -> Response {
        .document(try await statusDocument())
    }

    /// The same at once; nil while something may be missing, which takes a look at the token's file.
    func quickStatus() throws -> Response? {
        let status = engine.status()
        return status.isUnproven ? nil : .document(try document(of: status, missing: nil))
    }

    /// Body, optional: `{"entities": ["orders"], "full": true, "delete": true}`.
    func sync(_ request: Request) async throws -> Response {
        var mistakes = mistakes
        let parameters = try QueryParameters(request)
        let waits = mistakes.collect(false, try parameters.flag("wait"))
        let wanted =
            try request.body.isEmpty ? SyncRequest() : syncRequest(mistakes.object(request), &mistakes)
        try mistakes.throwAny()
        guard waits else {
            await engine.requestSync(wanted)
            return .document(try await statusDocument(), 202)
        }
        do throws(SyncError) {
            try await engine.sync(wanted)
        } catch {
            throw Problem(error)
        }
        return try await status()
    }

    func pause() async throws -> Response {
        await engine.pause()
        return try await status()
    }

    func resume() async throws -> Response {
        await engine.resume()
        return try await status()
    }

    private func syncRequest(_ body: JSONText, _ mistakes: inout Mistakes) -> SyncRequest {
        var wanted = SyncRequest()
        mistakes.requireOnly(["entities", "full", "delete"], in: body)
        func flag(_ name: String) -> Bool {
            guard body[name] != nil else { return false }
            return mistakes.member(name, of: body, "expected true or false", \.boolean) ?? false
        }
        wanted.full = flag("full")
        wanted.entities = body["entities"].map { entityNames($0, &mistakes) }
        guard flag("delete") else { return wanted }
        if !wanted.full {
            mistakes.add([.body("delete", "only a full sync finds deletions to confirm; send full: true as well")])
        }
        wanted.deletes = wanted.entities ?? Set(schema.entities.map(\.name))
        return wanted
    }

    private func entityNames(_ list: JSONText, _ mistakes: inout Mistakes) -> Set<String> {
        let names = list.elements.compactMap(\.string)
        guard !names.isEmpty, names.count == list.elements.count else {
            mistakes.add([.body("entities", "expected a list of names")])
            return []
        }
        // A caller needs some of them, however many there are.
        for name in Set(names).filter({ schema[$0] == nil }).sorted().prefix(20) {
            mistakes.collect(try requireEntity(name))
        }
        return Set(names)
    }

    private func requireEntity(_ name: String) throws(Problem) {
        do throws(Problem) {
            _ = try entity(name)
        } catch {
            throw .body("entities", error.detail, error.code)
        }
    }

    // MARK: The status document

    func statusDocument() async throws -> JSONText {
        let status = engine.status()
        return try document(of: status, missing: await engine.missing(status))
    }

    private func document(of status: SyncStatus, missing: String?) throws -> JSONText {
        let summary = try store.summary()
        let rejection = about.rejection().map { "the new configuration is not in use: \($0)" }
        let warnings = about.warnings + [rejection, store.logWarning].compactMap(\.self)
        // Written straight into one array, because pages and commands poll it.
        var document = JSONWriter(capacity: 256 + 256 * schema.entities.count)
        document.object { document in
            document.member("state", status.state.rawValue)
            document.member("progress", number(status.progress))
            document.member("phase", status.phase)
            document.member("error", status.error)
            document.member("missing", missing)
            document.member("warnings", .array(of: warnings))
            document.member("last_sync_at", status.lastSyncAt)
            document.member("next_sync_at", status.nextSyncAt)
            document.member("pending", summary.count.pending)
            document.member("failed", summary.count.failed)
            document.member("conflicts", summary.openConflicts)
            document.member("drift", summary.drift)
            document.member("set_aside", summary.setAside)
            document.member("rescue", rescue(summary.rescue))
            document.member("entities", entities(status, summary))
            document.name("upstream")
            writeUpstream(status, account: summary.account, to: &document)
            document.member("signals", signals(status.signals))
            document.member("schema", schema.name)
            document.member("version", about.version)
            document.member("uptime_s", Int(now().since(about.startedAt).components.seconds))
            if let standby = parts.standby { document.member("standby", standby.document) }
            if summary.parkedDeliveries > 0 { document.member("parked_deliveries", summary.parkedDeliveries) }
        }
        return document.text
    }

    private func writeUpstream(_ status: SyncStatus, account: String?, to document: inout JSONWriter) {
        document.object { upstream in
            upstream.member("reachable", status.isReachable)
            upstream.member("account", account)
            upstream.member("needs_sign_in", status.needsSignIn && parts.signIns != nil)
            upstream.member("refuses_account", status.refusesAccount)
            upstream.member("clock_offset_ms", status.clockOffset.map { Int($0.milliseconds) })
            upstream.member("retry_after", status.retryAfter)
            upstream.member("budget", budget(status.budget))
            upstream.member("batches", status.batches)
        }
    }

    private func signals(_ sources: [SignalStatus]) -> JSONText {
        .array(
            sources.map { source in
                .object([
                    "kind": .string(source.kind), "path": .string(source.path),
                    "connected": source.isConnected.map(JSONText.boolean) ?? .null,
                    "last_signal_at": time(source.lastSignalAt), "error": .string(source.error),
                ])
            })
    }

    private func budget(_ budget: SyncStatus.Budget?) -> JSONText {
        guard let budget else { return .null }
        return .object([
            "remaining": .integer(budget.remaining), "requests": .integer(budget.requests),
            "per_s": .integer(budget.span.map { Int($0.components.seconds) }), "waiting": .integer(budget.waiting),
        ])
    }

    /// The report on a damaged database, as long as it is kept.
    private func rescue(_ report: QueueRescue.Report?) -> JSONText {
        guard let report else { return .null }
        return .object([
            "at": .string(report.at), "reason": .string(report.reason), "set_aside": .string(report.setAside),
            "rescued": .integer(report.rescued), "uncertain": .integer(report.uncertain),
            "lost": .array(report.lost.map { .integer(Int($0)) }), "summary": .string(report.summary),
        ])
    }

    private func entities(_ status: SyncStatus, _ summary: CacheSummary) -> JSONText {
        let source = EntitiesStatus.Source(status: status.entities, rows: summary.rows, cursors: summary.cursors)
        return entitiesStatus.text(of: source) {
            var document = JSONWriter(capacity: 256 * schema.entities.count)
            document.object { document in
                // By index, because iterating over the entities copies each one.
                for index in schema.entities.indices {
                    let name = schema.entities[index].name
                    let isWindowed = schema.entities[index].pull?.window != nil
                    document.name(name)
                    writeEntity(name, isWindowed, source, to: &document)
                }
            }
            return document.text
        }
    }

    private func writeEntity(
        _ name: String, _ isWindowed: Bool, _ source: EntitiesStatus.Source, to document: inout JSONWriter
    ) {
        let status = source.status[name]
        let cursor = source.cursors[name] ?? PullCursor()
        let rows = source.rows[name] ?? 0
        let error = cursor.error ?? held(cursor, of: rows, name)
        var state = status?.state ?? .idle
        if state == .idle, error != nil { state = .error }
        document.object { entity in
            entity.member("rows", rows)
            entity.member("state", state.rawValue)
            entity.member("last_synced_at", status?.lastSyncedAt ?? cursor.lastSyncedAt)
            entity.member("cursor", cursor.watermark)
            entity.member("error", error)
            entity.member("held", cursor.held)
            if isWindowed {
                entity.member("kept", rows)
                entity.member("total", cursor.total)
            }
            if let progress = status?.progress { entity.member("progress", progress) }
        }
    }

    /// The message about records that the upstream no longer lists, which are kept until their deletion is confirmed.
    private func held(_ cursor: PullCursor, of rows: Int, _ entity: String) -> String? {
        let count = cursor.heldDeletions
        guard count > 0 else { return nil }
        let reason = cursor.held ?? "the upstream no longer lists \(count) of \(rows) \(entity)"
        let command = about.command("sync --full --delete \(entity)")
        return "\(reason); they are kept; if they are gone for good, confirm with: \(command)"
    }

    private func time(_ time: Timestamp?) -> JSONText { .string(time?.description) }

    /// Three decimals are enough for a progress bar.
    private func number(_ value: Double) -> JSONText { .decimal(Int((value * 1000).rounded(.down)), places: 3) }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ time: Timestamp?) {
        self.name(name)
        if let time { value(utf8: time.utf8) } else { null() }
    }
}

extension SyncStatus.Entity {
    /// Of the pull under way: the rows that came, and how many the upstream says there are. Nil while there is none.
    var progress: JSONText? {
        guard state == .syncing else { return nil }
        return .object(["rows": .integer(seen), "total": .integer(total)])
    }
}

extension Problem {
    /// For a caller that waited for a sync.
    fileprivate init(_ error: SyncError) {
        switch error {
        case .offline: self = .unavailable("\(error)", .upstreamUnreachable)
        case .upstream: self.init(.upstreamFailed, "\(error)")
        case .paused: self.init(.paused, "\(error)")
        case .otherAccount: self = .conflict("\(error)")
        case .cache, .cancelled: self = .unavailable("\(error)")
        }
    }
}
