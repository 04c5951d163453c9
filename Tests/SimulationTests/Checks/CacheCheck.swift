import EntitySchema
import JSONText
import Synchronization

@testable import CacheStore

/// Checks one daemon's cache after each step.
struct CacheCheck {
    let daemon: SimulatedDaemon
    let store: CacheStore
    let world: World

    private var server: SimulatedServer { world.server }

    private var reader: CacheReader { CacheReader(store: store) }

    func run() throws {
        let changes = try reader.changes()
        var deleted: [String: Set<String>] = [:]
        for entity in world.settings.entities {
            deleted[entity] = Set(try reader.records(entity).filter(\.isDeleted).map(\.key))
        }
        for entity in world.settings.entities {
            let queued = Dictionary(grouping: changes.filter { $0.entity == entity }, by: \.key)
            let records = try reader.records(entity)
            for record in records {
                let goes = goesWithOwner(entity, record, deleted)
                try world.check { try checkLayers(entity, record, queued[record.key] ?? [], goesWithOwner: goes) }
            }
            try world.check { try checkCursor(entity, records) }
            try world.check { try checkToken(entity, records) }
        }
        try world.check { try checkHeld(changes) }
        try world.check { try checkDeletions(changes) }
        try world.check { try checkRetries(changes) }
        try world.check { try checkPause() }
        try world.check { try checkLoad() }
        if world.settings.comparesAll { try world.check { try checkConsistency() } }
    }

    /// Everything that the database keeps twice agrees.
    private func checkConsistency() throws {
        guard let first = try store.inconsistencies(atMost: 1).first else { return }
        throw Violation(rule: .consistent, detail: "d\(daemon.number) \(first)")
    }

    // MARK: Layers

    /// Whether a record belongs to one whose deletion is queued.
    private func goesWithOwner(
        _ entity: String, _ record: CacheReader.Record, _ deleted: [String: Set<String>]
    ) -> Bool {
        let ties = server.schema[entity]?.ties.filter { $0.onDelete == .cascade } ?? []
        return ties.contains { tie in
            guard let owner = (record.document ?? record.remote)?[tie.field]?.plain else { return false }
            return deleted[tie.entity]?.contains(owner) ?? false
        }
    }

    /// Every changed field has the local value, every other field the server's.
    private func checkLayers(
        _ entity: String, _ record: CacheReader.Record, _ changes: [CacheReader.Change], goesWithOwner: Bool
    ) throws {
        func fail(_ what: String) -> Violation {
            Violation(
                rule: .notOverwritten,
                detail: """
                    d\(daemon.number) \(entity)/\(record.key) \(what): server \(record.remote?.text ?? "nothing"), \
                    shown \(record.document?.text ?? "the same"), \
                    queued \(changes.map { "\($0.operation) \($0.body.text)" }.joined(separator: ", "))
                    """)
        }
        if let remote = record.remote, !server.hasSaid(remote.text, of: entity, record.key),
            try !isAssumed(remote, entity, record.key)
        {
            throw fail("has a version that the server never had")
        }
        guard !record.isGone || changes.contains(where: { $0.state == "uploading" || $0.operation == .create }) else {
            throw fail("is noted as gone, but no change of it is being sent")
        }
        guard let last = changes.last else {
            guard hasOnlyDerived(record, entity), record.local == nil, record.isDeleted == goesWithOwner,
                record.remote != nil
            else {
                throw fail("has local values but no queued change")
            }
            return
        }
        guard record.isDeleted == (last.operation == .delete || goesWithOwner) else {
            throw fail("is shown although its deletion is queued")
        }
        var expected = fields(of: record.remote)
        for change in changes { expected.merge(fields(of: change.body)) { $1 } }
        var shown = fields(of: record.document.flatMap { server.schema[entity]?.withoutDerivedFields($0) })
        if record.remote == nil, changes.first?.operation != .create {
            // Deleted upstream, edited here: the other values stay visible until the conflict is resolved.
            guard shown["id"] != nil else { throw fail("has lost its key") }
            shown = shown.filter { expected[$0.key] != nil }
        }
        guard shown == expected else { throw fail("shows other values") }
    }

    /// Whether readers see what the server said, apart from derived fields.
    private func hasOnlyDerived(_ record: CacheReader.Record, _ entity: String) -> Bool {
        guard let document = record.document else { return true }
        return server.schema[entity]?.withoutDerivedFields(document) == record.remote
    }

    /// When the outcome of a change is unknown, the cache holds what was sent until the next pull. A stage that others set back
    /// with no later change time may be one that was read too early: until the change has settled, the one that was sent stays.
    private func isAssumed(_ remote: JSONText, _ entity: String, _ key: String) throws -> Bool {
        let mayReturn = try world.settings.window.hasStages && reader.settling(entity).contains(key)
        guard daemon.network.hidesOutcomes || mayReturn else { return false }
        let marked = remote.members.filter { SimulationSettings.markedFields[entity]?.contains($0.key) == true }
        return marked.allSatisfy { field, value in
            let value = SimulatedServer.FieldValue(entity: entity, field: field, value: value.text)
            return !server.changeTimes(of: value).isEmpty
        }
    }

    private func fields(of record: JSONText?) -> [String: String] {
        Dictionary((record?.members ?? []).map { ($0.key, $0.value.text) }) { $1 }
    }

    /// No record leaves the window while something of it is queued.
    private func checkHeld(_ changes: [CacheReader.Change]) throws {
        let orders = Set(try reader.records("orders").map(\.key))
        for change in changes where change.entity == "orders" && !orders.contains(change.key) {
            throw Violation(
                rule: .heldWhileQueued,
                detail: "d\(daemon.number) lacks orders/\(change.key), of which a \(change.operation) is queued")
        }
    }

    // MARK: The cursor

    /// The cache has everything that changed before the watermark, less the overlap.
    private func checkCursor(_ entity: String, _ records: [CacheReader.Record]) throws {
        guard server.settings.sortsByKey, let plan = server.schema[entity]?.pull, plan.isSince,
            let watermark = try store.cursor(of: entity).watermark.flatMap(Timestamp.init(iso8601:))
        else { return }
        let overlap = Duration.seconds(server.settings.overlap)
        let known = Dictionary(records.map { ($0.key, $0) }) { $1 }
        let undecided = try reader.undecidedRecords()
        for row in server.rows(entity) where row.changedAt < watermark - overlap {
            // A record that becomes visible long after its change time is found by the next full pull.
            let lateness = server.time(at: row.visibleAt).since(row.changedAt)
            guard lateness < overlap / 2, !undecided.contains("\(entity)/\(row.key)"),
                !world.settings.window.hasDueTime, isInWindow(entity, row.record),
                try daemon.hasPulledWindow(of: entity),
                !row.isDeleted || server.schema[entity]?.tombstones == nil
            else { continue }
            let remote = known[row.key]?.remote
            guard row.isDeleted ? remote != nil : remote?.text != row.record.text else { continue }
            throw Violation(
                rule: .cursorBehindData,
                detail: """
                    d\(daemon.number) has pulled \(entity) up to \(watermark) but lacks \(row.record.text); it has \
                    \(remote?.text ?? "nothing")
                    """)
        }
    }

    /// Whether the record is in the daemon's window, and not so near to its edge that the measured time decides.
    private func isInWindow(_ entity: String, _ record: JSONText) -> Bool {
        let changesWindow = world.settings.shapes.contains { $0 != .base }
        return world.isInWindow(entity, record, ago: changesWindow ? .seconds(-10) : .zero, daemon.shape)
    }

    /// The cache has everything that had happened when the upstream made the token.
    private func checkToken(_ entity: String, _ records: [CacheReader.Record]) throws {
        let cursor = try store.cursor(of: entity)
        guard server.schema[entity]?.pull?.deltaToken != nil, let token = cursor.delta else { return }
        let version = SimulatedServer.version(in: token)
        let known = Dictionary(records.map { ($0.key, $0) }) { $1 }
        let undecided = try reader.undecidedRecords().union(reader.unconfirmedRecords())
        for row in server.rows(entity) where row.version <= version && !undecided.contains("\(entity)/\(row.key)") {
            let remote = known[row.key]?.remote
            guard row.isDeleted ? remote != nil : remote?.text != row.record.text else { continue }
            if row.isDeleted, try waits(row.key, entity, known[row.key], cursor) { continue }
            throw Violation(
                rule: .cursorBehindData,
                detail: """
                    d\(daemon.number) has \(token) but not \(row.record.text) of version \(row.version); it has \
                    \(remote?.text ?? "nothing")
                    """)
        }
    }

    /// Whether a record that the server has deleted may still be here: what a whole list lacked waits for a person, or for
    /// another whole list; what is gone or deleted here, for an outcome.
    private func waits(
        _ key: String, _ entity: String, _ record: CacheReader.Record?, _ cursor: PullCursor
    ) throws -> Bool {
        if record?.isGone == true || record?.isDeleted == true { return true }
        return try cursor.held != nil || cursor.lastFullAt == nil
            || reader.missingRecords().contains("\(entity)/\(key)")
    }

    /// What was deleted before the watermark of the list of deletions, less the overlap, is gone.
    private func checkDeletions(_ changes: [CacheReader.Change]) throws {
        let feeds = server.settings.feeds
        let overlap = Duration.seconds(server.settings.overlap)
        let cursor = try store.cursor(of: "orders:deleted")
        guard feeds.deletions == .dated, .milliseconds(feeds.deletionsLag) < overlap / 2, cursor.heldDeletions == 0,
            let watermark = cursor.watermark.flatMap(Timestamp.init(iso8601:))
        else { return }
        let here = Dictionary(try reader.records("orders").map { ($0.key, $0.remote) }) { $1 }
        let spared = try reader.undecidedRecords().union(changes.map { "\($0.entity)/\($0.key)" })
        for deletion in server.state.withLock({ $0.deletions }) where deletion.at < watermark - overlap {
            guard server.isRemembered(deletion), server.row("orders", deletion.key)?.isDeleted == true,
                here[deletion.key]??.text != nil, !spared.contains("orders/\(deletion.key)")
            else { continue }
            throw Violation(
                rule: .cursorBehindData,
                detail: "d\(daemon.number) has read deletions up to \(watermark), but still has orders/\(deletion.key)")
        }
    }

    // MARK: Sending

    private func checkRetries(_ changes: [CacheReader.Change]) throws {
        let limit = server.settings.maximumAttempts
        for change in changes where change.attempts > limit {
            throw Violation(
                rule: .boundedRetries,
                detail: "d\(daemon.number) change \(change.id) counts \(change.attempts) attempts")
        }
        guard let upstream = daemon.life?.upstream else { return }
        for (key, count) in upstream.failures.sorted(by: { $0.key < $1.key }) where count > limit {
            throw Violation(
                rule: .boundedRetries,
                detail: "d\(daemon.number) sent \(key) \(count) times without success; \(limit) are allowed")
        }
    }

    /// In an outage, retries may be a tenth of the first attempts, plus a few.
    private func checkLoad() throws {
        guard let load = daemon.life?.upstream.load else { return }
        let settings = server.settings
        // One trial request at a time, 2 s to 60 s apart.
        var trials = 2
        var gap = 2.0
        var left = (load.lastAt - load.beganAt) / .seconds(1)
        while left > 0 {
            left -= gap
            gap = min(gap * 2, 60)
            trials += 1
        }
        let isOver: Bool
        switch load.kind {
        case .fails, .isSilent, .looksWell:
            // Each answered probe allows one trial of a change, one of another entity, and one look at the account.
            let allowed = load.kind == .looksWell ? 3 * load.probes : 0
            isOver =
                Double(load.repeated + load.reads) > Double(load.first) * 0.1
                + Double(10 + settings.parallel + allowed)
        case .failsChanges:
            isOver = Double(load.repeated) > Double(load.first) * 0.1 + Double(10 + settings.parallel + trials)
        }
        guard isOver else { return }
        throw Violation(rule: .cheapOutage, detail: "d\(daemon.number) in an outage: \(load)")
    }

    private func checkPause() throws {
        guard let begun = daemon.life?.upstream.begunWhilePaused, begun > 0 else { return }
        throw Violation(rule: .silentWhilePaused, detail: "d\(daemon.number) began \(begun) requests while paused")
    }
}
