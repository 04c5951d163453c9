internal import CacheStore
internal import EntitySchema
internal import SocketServer
internal import SyncEngine

/// `GET /metrics`, for Prometheus. docs/guides/operating.md lists what to alert on.
extension Handlers {
    private static let prefix = "repairminder_sync_"

    func metricsText() async throws -> Response {
        let (measures, hooks) = try await store.away { (try $0.measures(), try $0.hookStates()) }
        let status = engine.status()
        var text = MetricsText()
        addProcess(to: &text)
        addQueue(measures, to: &text)
        addUpstream(measures, status, to: &text)
        if let standby = parts.standby {
            text.gauge(
                "\(Self.prefix)standby_holds_lease", "1 while this daemon is the one that sends changes.",
                standby.standing().holdsLease ? 1 : 0)
        }
        addSignals(status, to: &text)
        addCache(measures, to: &text)
        addHooks(hooks, to: &text)
        addRequests(to: &text)
        return Response(status: 200, headers: [("Content-Type", MetricsText.contentType)], body: text.bytes)
    }

    private func addProcess(to text: inout MetricsText) {
        text.family("\(Self.prefix)build_info", .gauge, "The running version and its schema.") {
            $0.sample([("version", about.version), ("schema", schema.name)], 1)
        }
        text.family("\(Self.prefix)info", .gauge, "What this daemon is called among others, and its schema file.") {
            let bundle = about.bundle.map { [("bundle", "\($0)")] } ?? []
            $0.sample(
                [("instance", about.instance), ("site", about.site), ("schema_hash", about.schemaHash)] + bundle, 1)
        }
        text.gauge(
            "process_start_time_seconds", "When the process started, in seconds since 1970.",
            Self.seconds(about.startedAt))
    }

    private func addQueue(_ measures: CacheMeasures, to text: inout MetricsText) {
        text.family("\(Self.prefix)queue_changes", .gauge, "Local changes that are not yet upstream, by state.") {
            for (state, count) in measures.queue.sorted(by: { $0.key < $1.key }) {
                $0.sample([("state", state)], Double(count))
            }
        }
        let age = measures.oldestChange.map { max(now().since($0) / .seconds(1), 0) }
        text.gauge(
            "\(Self.prefix)queue_oldest_change_age_seconds",
            "Age of the oldest queued change; 0 when there is none.", age ?? 0)
        text.family(
            "\(Self.prefix)refused_callers_total", .counter, "Requests of callers that may not call, by reason."
        ) { family in
            for (reason, count) in metrics.refused.all { family.sample([("reason", reason)], Double(count.value)) }
        }
        text.family(
            "\(Self.prefix)push_retries_total", .counter, "Attempts to send a change that are retried later."
        ) {
            $0.sample([], Double(metrics.retries.value))
        }
        addWork(
            "push_duration_seconds",
            "Attempts to send a change, by outcome: acknowledged, postponed, barred, retry, failed or gone.",
            metrics.pushes, to: &text)
    }

    private func addUpstream(_ measures: CacheMeasures, _ status: SyncStatus, to text: inout MetricsText) {
        text.gauge("\(Self.prefix)upstream_up", "1 while the upstream can be reached.", status.isReachable ? 1 : 0)
        text.gauge("\(Self.prefix)paused", "1 while syncing is paused.", status.state == .paused ? 1 : 0)
        if let budget = status.budget {
            text.gauge(
                "\(Self.prefix)upstream_requests_remaining", "Requests that the upstream's limits still allow now.",
                Double(budget.remaining))
            text.gauge(
                "\(Self.prefix)upstream_requests_waiting", "Requests that wait for the upstream's limits.",
                Double(budget.waiting))
        }
        if let offset = status.clockOffset {
            text.gauge(
                "\(Self.prefix)clock_offset_seconds", "How far the upstream's clock is ahead of the local clock.",
                offset / .seconds(1))
        }
        text.family(
            "\(Self.prefix)last_success_timestamp_seconds", .gauge,
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
            text.family("\(Self.prefix)pulled_records_\(word)_total", .counter, "Records that pulls have \(word).") {
                family in
                for (entity, tally) in series.all { family.sample([("entity", entity)], Double(tally.value)) }
            }
        }
    }

    private func addSignals(_ status: SyncStatus, to text: inout MetricsText) {
        text.family(
            "\(Self.prefix)signal_source_up", .gauge, "1 while a stream is open, or the last poll of events succeeded."
        ) { family in
            for source in status.signals {
                guard let isConnected = source.isConnected else { continue }
                family.sample([("source", "\(source.kind) \(source.path)")], isConnected ? 1 : 0)
            }
        }
        text.family(
            "\(Self.prefix)signals_total", .counter, "Signals by outcome: accepted, joined, unknown or refused."
        ) { family in
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
        text.gauge(
            "\(Self.prefix)open_conflicts", "Conflicts that wait for a person.", Double(measures.openConflicts))
        text.family("\(Self.prefix)conflicts_total", .counter, "All conflicts recorded in this cache.") {
            $0.sample([], Double(measures.conflicts))
        }
        text.gauge(
            "\(Self.prefix)drift_findings", "Ways in which records and the schema disagree.", Double(measures.drift))
        text.gauge(
            "\(Self.prefix)set_aside_records", "Records without a usable key.", Double(measures.setAside))
        text.gauge(
            "\(Self.prefix)database_size_bytes", "Size of the database file.", Double(measures.databaseBytes))
        text.gauge(
            "\(Self.prefix)database_wal_size_bytes", "Size of the write-ahead log.", Double(measures.logBytes))
    }

    /// A gauge with a value for each entity.
    private func addEach(_ name: String, _ help: String, _ values: [String: Int], to text: inout MetricsText) {
        text.family("\(Self.prefix)\(name)", .gauge, help) { family in
            for (entity, value) in values.sorted(by: { $0.key < $1.key }) {
                family.sample([("entity", entity)], Double(value))
            }
        }
    }

    /// How long work took, by entity and outcome.
    private func addWork(
        _ name: String, _ help: String, _ series: LabelledSeries<Metrics.Work, Histogram>, to text: inout MetricsText
    ) {
        text.family("\(Self.prefix)\(name)", .histogram, help) { family in
            for (work, histogram) in series.all {
                family.histogram([("entity", work.entity), ("outcome", work.outcome)], histogram.snapshot)
            }
        }
    }

    private func addHooks(_ hooks: [HookState], to text: inout MetricsText) {
        guard !hooks.isEmpty else { return }
        text.family("\(Self.prefix)hook_parked", .gauge, "Deliveries that failed too often, by hook.") { family in
            for hook in hooks { family.sample([("hook", hook.name)], Double(hook.parked)) }
        }
        text.family("\(Self.prefix)hook_retrying", .gauge, "1 while a hook's next delivery has failed.") { family in
            for hook in hooks { family.sample([("hook", hook.name)], hook.attempts > 0 ? 1 : 0) }
        }
        text.family("\(Self.prefix)hook_deliveries_total", .counter, "Deliveries that succeeded, by hook.") { family in
            for hook in hooks { family.sample([("hook", hook.name)], Double(hook.delivered)) }
        }
    }

    private func addRequests(to text: inout MetricsText) {
        text.family(
            "\(Self.prefix)api_request_duration_seconds", .histogram,
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
