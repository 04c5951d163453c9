internal import CacheStore
internal import EntitySchema
internal import SocketServer
internal import SyncEngine

/// `GET /metrics`, for Prometheus. docs/guides/operating.md lists what to alert on.
extension Handlers {
    func metricsText() async throws -> Response {
        let (measures, hooks) = try await store.away { (try $0.measures(), try $0.hookStates()) }
        let status = engine.status()
        var text = MetricsText(prefix: "repairminder_sync_")
        addProcess(to: &text)
        addQueue(measures, to: &text)
        addUpstream(measures, status, to: &text)
        if let standby = parts.standby {
            text.gauge(
                "standby_holds_lease", "1 while this daemon is the one that sends changes.",
                standby.standing().holdsLease ? 1 : 0)
        }
        addSignals(status, to: &text)
        addCache(measures, to: &text)
        addHooks(hooks, to: &text)
        addRequests(to: &text)
        return Response(status: 200, headers: [("Content-Type", MetricsText.contentType)], body: text.bytes)
    }

    private func addProcess(to text: inout MetricsText) {
        text.family("build_info", .gauge, "The running version and its schema.") {
            $0.sample([("version", about.version), ("schema", schema.name)], 1)
        }
        text.family("info", .gauge, "What this daemon is called among others, and its schema file.") {
            let bundle = about.bundle.map { [("bundle", "\($0)")] } ?? []
            $0.sample(
                [("instance", about.instance), ("site", about.site), ("schema_hash", about.schemaHash)] + bundle, 1)
        }
        text.family(
            "process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.", hasPrefix: false
        ) { $0.sample([], Self.seconds(about.startedAt)) }
    }

    private func addQueue(_ measures: CacheMeasures, to text: inout MetricsText) {
        text.family("queue_changes", .gauge, "Local changes that are not yet upstream, by state.") {
            for (state, count) in measures.queue.sorted(by: { $0.key < $1.key }) {
                $0.sample([("state", state)], Double(count))
            }
        }
        let age = measures.oldestChange.map { max(now().since($0) / .seconds(1), 0) }
        text.gauge(
            "queue_oldest_change_age_seconds", "Age of the oldest queued change; 0 when there is none.", age ?? 0)
        text.family("refused_callers_total", .counter, "Requests of callers that may not call, by reason.") { family in
            for (reason, count) in metrics.refused.all { family.sample([("reason", reason)], Double(count.value)) }
        }
        text.counter("push_retries_total", "Attempts to send a change that are retried later.", metrics.retries.value)
        addWork(
            "push_duration_seconds",
            "Attempts to send a change, by outcome: acknowledged, postponed, barred, retry, failed or gone.",
            metrics.pushes, to: &text)
    }

    private func addUpstream(_ measures: CacheMeasures, _ status: SyncStatus, to text: inout MetricsText) {
        text.gauge("upstream_up", "1 while the upstream can be reached.", status.isReachable ? 1 : 0)
        text.gauge("paused", "1 while syncing is paused.", status.state == .paused ? 1 : 0)
        if let budget = status.budget {
            text.gauge(
                "upstream_requests_remaining", "Requests that the upstream's limits still allow now.",
                budget.remaining)
            text.gauge(
                "upstream_requests_waiting", "Requests that wait for the upstream's limits.", budget.waiting)
        }
        if let offset = status.clockOffset {
            text.gauge(
                "clock_offset_seconds", "How far the upstream's clock is ahead of the local clock.",
                offset / .seconds(1))
        }
        text.family(
            "last_success_timestamp_seconds", .gauge,
            "When the last complete pull of an entity ended, in seconds since 1970."
        ) { family in
            for entity in schema.entities {
                let last = status.entities[entity.name]?.lastSyncedAt ?? measures.lastSyncedAt[entity.name]
                if let last { family.sample([("entity", entity.name)], Self.seconds(last)) }
            }
        }
        addWork(
            "pull_duration_seconds", "Pulls of an entity, by outcome: completed, failed or interrupted.",
            metrics.pulls, to: &text)
        for (word, series) in [("written", metrics.written), ("deleted", metrics.deleted)] {
            text.family("pulled_records_\(word)_total", .counter, "Records that pulls have \(word).") { family in
                for (entity, tally) in series.all { family.sample([("entity", entity)], Double(tally.value)) }
            }
        }
    }

    private func addSignals(_ status: SyncStatus, to text: inout MetricsText) {
        text.family(
            "signal_source_up", .gauge, "1 while a stream is open, or the last poll of events succeeded."
        ) { family in
            for source in status.signals {
                guard let isConnected = source.isConnected else { continue }
                family.sample([("source", "\(source.kind) \(source.path)")], isConnected ? 1 : 0)
            }
        }
        text.family("signals_total", .counter, "Signals by outcome: accepted, joined, unknown or refused.") { family in
            for (signal, tally) in metrics.signals.all {
                family.sample([("source", signal.source), ("outcome", signal.outcome)], Double(tally.value))
            }
        }
    }

    private func addCache(_ measures: CacheMeasures, to text: inout MetricsText) {
        addEach("records", "Records in the cache.", measures.rows, to: &text)
        if !measures.totals.isEmpty {
            addEach(
                "listed_records",
                "Records that the upstream last listed, of an entity of which the cache keeps only some.",
                measures.totals, to: &text)
        }
        addEach(
            "held_deletions", "Records that are gone upstream and kept until their deletion is confirmed.",
            measures.heldDeletions, to: &text)
        addEach(
            "held_lists",
            "1 while the last full list of an entity is not believed: empty, cut, or without too many records.",
            measures.heldLists.mapValues { $0 ? 1 : 0 }, to: &text)
        text.gauge("open_conflicts", "Conflicts that wait for a person.", measures.openConflicts)
        text.counter("conflicts_total", "All conflicts recorded in this cache.", measures.conflicts)
        text.gauge("drift_findings", "Ways in which records and the schema disagree.", measures.drift)
        text.gauge("set_aside_records", "Records without a usable key.", measures.setAside)
        text.gauge("database_size_bytes", "Size of the database file.", measures.databaseBytes)
        text.gauge("database_wal_size_bytes", "Size of the write-ahead log.", measures.logBytes)
    }

    /// A gauge with a value for each entity.
    private func addEach(_ name: String, _ help: String, _ values: [String: Int], to text: inout MetricsText) {
        text.family(name, .gauge, help) { family in
            for (entity, value) in values.sorted(by: { $0.key < $1.key }) {
                family.sample([("entity", entity)], Double(value))
            }
        }
    }

    /// How long work took, by entity and outcome.
    private func addWork(
        _ name: String, _ help: String, _ series: LabelledSeries<Metrics.Work, Histogram>, to text: inout MetricsText
    ) {
        text.family(name, .histogram, help) { family in
            for (work, histogram) in series.all {
                family.histogram([("entity", work.entity), ("outcome", work.outcome)], histogram.snapshot)
            }
        }
    }

    private func addHooks(_ hooks: [HookState], to text: inout MetricsText) {
        guard !hooks.isEmpty else { return }
        text.family("hook_parked", .gauge, "Deliveries that failed too often, by hook.") { family in
            for hook in hooks { family.sample([("hook", hook.name)], Double(hook.parked)) }
        }
        text.family("hook_retrying", .gauge, "1 while a hook's next delivery has failed.") { family in
            for hook in hooks { family.sample([("hook", hook.name)], hook.attempts > 0 ? 1 : 0) }
        }
        text.family("hook_deliveries_total", .counter, "Deliveries that succeeded, by hook.") { family in
            for hook in hooks { family.sample([("hook", hook.name)], Double(hook.delivered)) }
        }
    }

    private func addRequests(to text: inout MetricsText) {
        text.family(
            "api_request_duration_seconds", .histogram,
            "Time to answer requests to the local API, by route, method and status class."
        ) { family in
            for (request, histogram) in metrics.requests.all {
                family.histogram(
                    [("route", request.route), ("method", request.method), ("status", request.status)],
                    histogram.snapshot)
            }
        }
    }

    private static func seconds(_ time: Timestamp) -> Double { Double(time.milliseconds) / 1000 }
}
