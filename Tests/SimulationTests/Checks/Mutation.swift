import EntitySchema
import GRDB
import JSONText
import Synchronization
import TestSupport
import Upstream

@testable import CacheStore

/// A fault injected into the engine on purpose, to test that the check of its rule catches it.
enum Mutation: String, Sendable, CaseIterable {
    /// Failed changes are deleted.
    case dropsFailedChanges
    /// Every attempt has another idempotency key.
    case changesKeys
    /// A record that is written while it has queued changes shows the server's values.
    case overwritesLocalValues
    /// One entity's failure counts as an outage of everything.
    case stopsForOneFailure
    /// Some cached records never follow the server.
    case ignoresUpdates
    /// Changes do not wait for the ones before them.
    case forgetsOrder
    /// Failed attempts are not counted.
    case forgetsAttempts
    /// A pause is answered but has no effect.
    case ignoresPause
    /// The watermark is stored an hour ahead.
    case runsAheadOfData
    /// Local edits are timed by the local clock alone.
    case ignoresServersClock
    /// A failure counts as the answer of a working upstream.
    case takesFailuresForAnswers
    /// A column keeps its first value.
    case forgetsColumn
    /// Records that the server has in another place are not marked.
    case forgetsPlace
    /// Derived values stay as they were.
    case forgetsDerivedValue
    /// Figures that wait for the end of a load are never computed.
    case forgetsWaitingFigures
    /// A second change of a record is not shown.
    case forgetsOverlay
    /// Changes that leave the queue are still counted.
    case forgetsCount
    /// The search index does not learn of changed texts.
    case forgetsSearch
    /// A reminder keeps its first time.
    case forgetsReminder
    /// Records leave their window although something of them is queued.
    case forgetsHeldRecords
    /// Orders come and stay although they are outside of the window.
    case ignoresWindow
    /// The token of a list is stored as one that is a few changes newer.
    case runsAheadOfToken
    /// The watermark of the list of deletions is stored an hour ahead.
    case runsAheadOfDeletions
    /// A deletion from before a record was restored deletes it again.
    case believesOldDeletions
    /// Signals are received and do nothing.
    case ignoresSignals

    /// The rule that it breaks.
    var rule: Violation.Rule {
        switch self {
        case .dropsFailedChanges: .neverLost
        case .changesKeys: .onlyOnce
        case .overwritesLocalValues: .notOverwritten
        case .stopsForOneFailure: .othersGoOn
        case .ignoresUpdates: .equalInTheEnd
        case .forgetsOrder: .inOrder
        case .forgetsAttempts: .boundedRetries
        case .ignoresPause: .silentWhilePaused
        case .runsAheadOfData, .runsAheadOfToken, .runsAheadOfDeletions: .cursorBehindData
        case .ignoresWindow: .equalInTheEnd
        case .believesOldDeletions: .noFalseDeletion
        case .ignoresSignals: .promptSignals
        case .ignoresServersClock: .lastWriteWins
        case .takesFailuresForAnswers: .cheapOutage
        case .forgetsHeldRecords: .heldWhileQueued
        case .forgetsColumn, .forgetsPlace, .forgetsDerivedValue, .forgetsWaitingFigures, .forgetsOverlay,
            .forgetsCount, .forgetsSearch, .forgetsReminder:
            .consistent
        }
    }

    /// Steps before the seed's own script that make the fault take effect early.
    var provocation: [Step] {
        let actions: [(Step.Action, wait: Int)] =
            switch self {
            case .stopsForOneFailure: [(.poison(entity: "customers", pick: nil, .alwaysFails), 100)]
            case .changesKeys:
                [
                    (.nothing, 5000), (.fault(daemon: 0, .lostAfter, times: 1), 0),
                    (.create(daemon: 0, entity: "customers", pick: 0), 30_000),
                ]
            case .forgetsOrder:
                [
                    (.nothing, 5000), (.fault(daemon: 0, .failsBefore, times: 1), 0),
                    (.edit(daemon: 0, entity: "customers", pick: 0, fields: 1), 700),
                    (.edit(daemon: 0, entity: "customers", pick: 0, fields: 1), 5000),
                ]
            case .forgetsOverlay:
                [
                    (.nothing, 5000), (.offline(daemon: 0), 0),
                    (.edit(daemon: 0, entity: "customers", pick: 0, fields: 1), 500),
                    (.edit(daemon: 0, entity: "customers", pick: 0, fields: 2), 5000),
                ]
            case .forgetsHeldRecords:
                [
                    (.nothing, 5000), (.poison(entity: "orders", pick: 0, .alwaysRefuses), 0),
                    (.edit(daemon: 0, entity: "orders", pick: 0, fields: 1), 400_000),
                ]
            case .believesOldDeletions:
                [
                    (.nothing, 5000), (.serverDelete(entity: "orders", pick: 0), 500),
                    (.sync(daemon: 0, full: false), 5000),
                    (.serverRestore(pick: 0), 5000), (.sync(daemon: 0, full: false), 5000),
                ]
            default: []
            }
        return actions.map { Step(number: 0, action: $0, wait: $1) }
    }

    /// Injects the fault into a store that was just opened.
    func damage(_ store: CacheStore) throws {
        try store.pool.write { db in
            for sql in triggers(store.schema.entities.map(\.name)) {
                try db.execute(sql: "CREATE TRIGGER IF NOT EXISTS \(sql); END")
            }
        }
    }

    private func triggers(_ entities: [String]) -> [String] {
        switch self {
        case .changesKeys, .stopsForOneFailure, .ignoresPause, .ignoresServersClock, .takesFailuresForAnswers,
            .believesOldDeletions, .ignoresSignals, .ignoresWindow:
            []
        case .dropsFailedChanges:
            [
                """
                mutation AFTER UPDATE OF state ON sync_outbox WHEN NEW.state = 'failed'
                BEGIN DELETE FROM sync_outbox WHERE id = NEW.id
                """
            ]
        case .overwritesLocalValues:
            entities.map { entity in
                """
                mutation_\(entity) AFTER UPDATE OF _remote, _local, _document ON records_\(entity)
                WHEN NEW._local IS NOT NULL AND OLD._local IS NOT NULL AND NEW._remote IS NOT NULL
                BEGIN UPDATE records_\(entity) SET _document = _remote WHERE _pk = NEW._pk
                """
            }
        case .ignoresUpdates:
            entities.map { entity in
                """
                mutation_\(entity) BEFORE UPDATE OF _remote ON records_\(entity)
                WHEN OLD._pk % 2 = 0 AND OLD._remote IS NOT NULL BEGIN SELECT RAISE(IGNORE)
                """
            }
        case .forgetsOrder:
            [
                """
                mutation AFTER INSERT ON sync_dependency
                BEGIN DELETE FROM sync_dependency WHERE change_id = NEW.change_id AND needs_id = NEW.needs_id
                """
            ]
        case .forgetsAttempts:
            [
                """
                mutation AFTER UPDATE OF attempt_count ON sync_outbox
                BEGIN UPDATE sync_outbox SET attempt_count = 0 WHERE id = NEW.id
                """
            ]
        case .forgetsColumn: [keeping("name", of: "records_customers", "true")]
        case .forgetsPlace: [keeping("_displaced", of: "records_orders", "NEW._displaced")]
        case .forgetsDerivedValue: [keeping("_derived", of: "records_customers", "OLD._derived IS NOT NULL")]
        case .forgetsWaitingFigures:
            [
                """
                mutation AFTER INSERT ON sync_setting WHEN NEW.name GLOB 'figures:*'
                BEGIN DELETE FROM sync_setting WHERE name = NEW.name
                """
            ]
        case .forgetsOverlay:
            [keeping("_local", of: "records_customers", "OLD._local IS NOT NULL AND NEW._local IS NOT NULL")]
        case .forgetsCount:
            [
                """
                mutation AFTER DELETE ON sync_outbox
                BEGIN UPDATE sync_tally SET count = count + 1 WHERE name = 'rows:orders'
                """
            ]
        case .forgetsSearch:
            [
                """
                mutation AFTER INSERT ON sync_customers_outdated
                BEGIN DELETE FROM sync_customers_outdated WHERE _pk = NEW._pk
                """
            ]
        case .forgetsReminder: [keeping("due_at", of: "sync_reminder", "true")]
        case .forgetsHeldRecords:
            [
                """
                mutation AFTER INSERT ON sync_change_log WHEN NEW.kind = 'deleted' AND NEW.detail LIKE '%window%'
                BEGIN DELETE FROM records_orders WHERE _local IS NOT NULL
                """
            ]
        case .runsAheadOfToken:
            ["INSERT", "UPDATE OF delta"].map { event in
                """
                mutation_\(event.prefix(6)) AFTER \(event) ON sync_cursor WHEN NEW.delta GLOB '/customers*' BEGIN
                  UPDATE sync_cursor
                  SET delta = '/customers?delta='
                    || (CAST(substr(NEW.delta, length('/customers?delta=') + 1) AS INTEGER) + 5)
                  WHERE entity = NEW.entity
                """
            }
        case .runsAheadOfDeletions:
            ["INSERT", "UPDATE OF watermark"].map { event in
                """
                mutation_\(event.prefix(6)) AFTER \(event) ON sync_cursor WHEN NEW.entity = 'orders:deleted' BEGIN
                  UPDATE sync_cursor SET watermark = strftime('%Y-%m-%dT%H:%M:%fZ', watermark, '+1 hour')
                  WHERE entity = NEW.entity
                """
            }
        case .runsAheadOfData:
            ["INSERT", "UPDATE OF watermark"].map { event in
                """
                mutation_\(event.prefix(6)) AFTER \(event) ON sync_cursor BEGIN UPDATE sync_cursor
                  SET watermark = strftime('%Y-%m-%dT%H:%M:%fZ', watermark, '+1 hour') WHERE entity = NEW.entity
                """
            }
        }
    }

    /// Undoes every update of a column for which the condition holds.
    private func keeping(_ column: String, of table: String, _ condition: String) -> String {
        """
        mutation AFTER UPDATE OF \(column) ON \(table) WHEN OLD.\(column) IS NOT NEW.\(column) AND \(condition)
        BEGIN UPDATE \(table) SET \(column) = OLD.\(column) WHERE rowid = NEW.rowid
        """
    }

    func damaged(_ upstream: SimulatedUpstream) -> any Upstream {
        switch self {
        case .changesKeys, .stopsForOneFailure, .takesFailuresForAnswers, .believesOldDeletions, .ignoresSignals:
            DamagedUpstream(upstream: upstream, mutation: self)
        default: upstream
        }
    }
}

/// The upstream as an engine with the fault would use it.
private final class DamagedUpstream: Upstream {
    private let upstream: SimulatedUpstream
    private let mutation: Mutation
    private let attempts = Counter()

    init(upstream: SimulatedUpstream, mutation: Mutation) {
        self.upstream = upstream
        self.mutation = mutation
    }

    func account() async throws(UpstreamError) -> SignedInAccount? { try await upstream.account() }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        do { return damaged(try await upstream.page(request), request) } catch { throw damaged(error) }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await upstream.record(of: entity, known: known)
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        let attempt = attempts.next()
        let key = mutation == .changesKeys ? "\(idempotencyKey)/\(attempt)" : idempotencyKey
        do { return try await upstream.push(request, idempotencyKey: key) } catch { throw damaged(error) }
    }

    func probe() async throws(UpstreamError) { try await upstream.probe() }

    func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        try await upstream.follow(stream, after: lastEvent, clock: clock) { [mutation] news in
            if case .event = news, mutation == .ignoresSignals { return }
            receive(news)
        }
    }

    private func damaged(_ page: Page, _ request: PageRequest) -> Page {
        var page = page
        switch (mutation, request.path) {
        case (.ignoresSignals, Feeds.eventsPath):
            page.records = .array([])
            page.count = 0
        case (.believesOldDeletions, Feeds.deletionsPath):
            let future = JSONText.string((Timestamp.sample + .seconds(86_400)).description)
            page.records = .array(page.records.elements.map { $0.setting("at", to: future) })
        default: break
        }
        return page
    }

    private func damaged(_ error: UpstreamError) -> UpstreamError {
        switch (mutation, error) {
        case (.stopsForOneFailure, .unclear), (.stopsForOneFailure, .refused), (.stopsForOneFailure, .malformed):
            .offline(error.message)
        case (.takesFailuresForAnswers, .unclear): .malformed(error.message)
        default: error
        }
    }
}
