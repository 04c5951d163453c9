internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Pulls what the upstream serves only for one record at a time: for each record that changed, its children, or the
/// single record with everything that the list does not show.
///
/// The records themselves record whether they are outdated, so an interrupted pull resumes where it stopped, and a pull
/// with nothing to do makes no request.
struct DetailPuller {
    let puller: Puller
    let entity: Entity
    let fetch: PullPlan.Fetch
    /// Requests in flight.
    let parallel: Int
    /// Once the answers have this many bytes, they are written before another record is asked for.
    var mostBytes = 16 << 20
    /// Only the first parent of a batch may have more bytes of children. Those of others wait for the next batch.
    var mostBytesAside = 4 << 20
    /// Those that were refused for long are asked for less often, unless all are fetched.
    var refused = RefusedReads()
    /// Nil takes the puller's time.
    var monotonicNow: (@Sendable () -> Timestamp)?

    private static let batch = 100
    /// How many times it takes to read every record again.
    private static let turnsOfARound = 30

    private var store: CacheStore { puller.store }
    /// The children that are fetched.
    private var details: [PullPlan.Detail] { entity.pull?.details.filter { !$0.isInList } ?? [] }

    private struct Fetched: Sendable {
        var parent: CacheStore.OutdatedParent
        /// By the children's entity.
        var families: [String: ChildReader.Family] = [:]
        /// The single record, if that is what was fetched.
        var record: JSONText?
        /// The upstream has no such list or record: the parent was deleted, or has none.
        var isGone = false
        /// To be fetched again, with a later batch.
        var isPutBack: Bool { families.values.contains { $0.isPutBack } }

        var bytes: Int { families.values.reduce(record?.bytes.count ?? 0) { $0 + $1.bytes } }
    }

    private struct Batch: Sendable {
        var fetched: [Fetched] = []
        /// Those that are not there.
        var gone: [Fetched] = []
        var failures: [UpstreamError] = []
        /// Why no more are asked for, such as a limit. What was fetched before is kept, or a pull might never get further.
        var ending: UpstreamError?
        /// Of the last parent that was asked for.
        var lastPK: Int64
        var position: Int64
        var bytes = 0
    }

    /// `all` fetches for every record, changed or not. Throws the first failure after all others are done.
    func pull(all: Bool) async throws {
        let all = try all || details.contains { try store.hasMissing(of: $0.entity) }
        let (summary, failure) = try await read(all)
        try await resolve(summary, isFull: all && failure == nil)
        if let failure { throw failure }
        for detail in details { try await noteEnd(of: detail.entity) }
    }

    /// Decides about the children that parents lack.
    private func resolve(_ summary: PullSummary, isFull: Bool) async throws {
        for detail in details {
            try await puller.noteParts(summary, of: detail, entity, isFull: isFull)
            let missing = summary.children[detail.entity]?.missing ?? [:]
            _ = try await puller.resolve(missing, of: entity, detail, isFull: isFull)
        }
    }

    /// Fetches and writes all batches. Returns what they show of the children, and the first failure of a single record.
    private func read(_ all: Bool) async throws -> (summary: PullSummary, failure: UpstreamError?) {
        var summary = PullSummary()
        var failure: UpstreamError?
        var fetched = try await fetch(after: 0, all: all)
        while let batch = fetched.take() {
            // Large ones are not kept while others are fetched.
            let (last, isLarge) = (batch.lastPK, batch.bytes > mostBytesAside)
            let isLast = batch.ending != nil
            async let next = isLarge || isLast ? nil : fetch(after: last, all: all)
            failure = failure ?? batch.failures.first
            try await write(batch, &summary)
            fetched = try await next
            if let ending = batch.ending { throw ending }
            if isLarge { fetched = try await fetch(after: last, all: all) }
        }
        return (summary, failure)
    }

    /// Why a record may have more children than were read, in words, by their entity.
    private func parts(of batch: Batch) -> [String: String] {
        let found = details.compactMap { detail in
            let families = batch.fetched.compactMap { $0.families[detail.entity] }
            let part = fetch.isSingle ? puller.childReader(entity, detail).part(of: families) : nil
            return (families.lazy.compactMap(\.lack).first ?? part).map { (detail.entity, $0) }
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Reads some records again although no list shows a change: as often as a full pull is due a thirtieth of them, at most
    /// `batch`, from where the last time stopped. A failure does not keep those behind it from their turn.
    ///
    /// `isDue`: by the last time. The first time everything has just been read, so only that time is noted.
    func readAgain(_ isDue: (Timestamp) -> Bool) async throws {
        let setting = "round:\(entity.name)"
        let stored = try store.setting(setting)?.split(separator: " ").compactMap { Int64($0) } ?? []
        guard stored.count == 2 else {
            return try await store.setSetting(setting, to: "0 \(puller.now().milliseconds)")
        }
        guard isDue(Timestamp(milliseconds: stored[1])) else { return }
        let rows = try store.rowCount(of: entity.name)
        let limit = min((rows + Self.turnsOfARound - 1) / Self.turnsOfARound, Self.batch)
        var batch = try await fetch(after: stored[0], all: true, limit: limit)
        if batch == nil, stored[0] > 0 { batch = try await fetch(after: 0, all: true, limit: limit) }
        var summary = PullSummary()
        if let batch { try await write(batch, &summary) }
        if let ending = batch?.ending { throw ending }
        try await resolve(summary, isFull: false)
        try await store.setSetting(setting, to: "\(batch?.lastPK ?? 0) \(puller.now().milliseconds)")
        if let failure = batch?.failures.first { throw failure }
    }

    /// Stores when the children of all parents were first fetched.
    private func noteEnd(of children: String) async throws {
        guard try store.cursor(of: entity.name).lastSyncedAt != nil else { return }
        try await store.changeCursor(of: children) { $0.lastSyncedAt = $0.lastSyncedAt ?? puller.now() }
    }

    /// Writes a batch in one transaction: one for each record would cost an fsync each. Adds what it shows of the children, and
    /// those that their parents lack.
    private func write(_ batch: Batch, _ summary: inout PullSummary) async throws {
        summary.parts.merge(parts(of: batch)) { first, _ in first }
        for (name, family) in batch.fetched.flatMap(\.families) { summary.note([family], of: name) }
        var page = PulledPage(
            entity: entity.name, records: .array(batch.fetched.compactMap(\.record)),
            position: batch.position,
            details: batch.fetched.filter { !isFresh($0.parent) }.map {
                PulledPage.Detail(key: $0.parent.key, value: $0.parent.value)
            },
            view: fetch.isSingle ? .single : .list)
        for detail in details {
            let isConfirmed = puller.deletionGuard.confirmed.contains(detail.entity)
            page.children += ChildReader(parent: entity, detail: detail).pulled(
                batch.fetched.compactMap { $0.families[detail.entity] }, deletes: isConfirmed ? .all : .none)
        }
        for (name, outcome) in try await store.apply(page, at: puller.now()).children {
            summary.children[name, default: ChildOutcome()] += outcome
        }
    }

    /// Whether it has just changed, so that the upstream may not show all of that yet, or show it on one of its servers only. It is
    /// fetched again with the next pull.
    private func isFresh(_ parent: CacheStore.OutdatedParent) -> Bool {
        guard let changed = (try? JSONText(parsing: parent.record)).flatMap(entity.changeTime) else { return false }
        return (.seconds(-1)..<puller.schema.upstream.settle).contains(puller.upstreamTime.since(changed))
    }

    // MARK: Fetching

    private func fetch(after pk: Int64, all: Bool, limit: Int = Self.batch) async throws -> Batch? {
        let parents = try store.parents(of: entity.name, after: pk, all: all, limit: limit, bytes: mostBytes)
        guard !parents.isEmpty else { return nil }
        var batch = Batch(lastPK: pk, position: try store.position())
        try await withThrowingTaskGroup(of: Result<Fetched, UpstreamError>.self) { group in
            var waiting = parents[...]
            var putBack: Int64?
            func addNext() {
                guard batch.bytes < mostBytes, putBack == nil, batch.ending == nil, let parent = waiting.popFirst()
                else { return }
                batch.lastPK = parent.pk
                group.addTask { await fetchedUnlessRefused(parent, asksAgain: all, parent.pk == parents[0].pk) }
            }
            for _ in 0..<parallel { addNext() }
            while let result = try await group.next() {
                switch result {
                case .success(let fetched) where fetched.isGone: batch.gone.append(fetched)
                case .success(let fetched) where fetched.isPutBack:
                    putBack = min(putBack ?? .max, fetched.parent.pk)
                case .success(let fetched):
                    batch.fetched.append(fetched)
                    batch.bytes += fetched.bytes
                case .failure(let error) where error.concernsWholeUpstream:
                    batch.ending = batch.ending ?? error
                    // Those within a limit are answered, often later than the one beyond it.
                    if case .throttled = error { break }
                    group.cancelAll()
                case .failure where batch.ending != nil: break
                case .failure(let error): batch.failures.append(error)
                }
                addNext()
            }
            // The next batch begins with it.
            if let putBack { batch.lastPK = putBack - 1 }
        }
        if case .cancelled? = batch.ending { throw UpstreamError.cancelled }
        if batch.ending == nil, try await isWell(batch) { batch.fetched += batch.gone }
        return batch
    }

    /// Whether lists that are not there say that their parents have no children. Behind a gateway none is there, so that
    /// these parents are asked again.
    private func isWell(_ batch: Batch) async throws -> Bool {
        guard batch.fetched.isEmpty, let first = batch.gone.first else { return true }
        guard !fetch.isSingle else { return false }
        do {
            return try await puller.upstream.record(of: entity, known: JSONText(parsing: first.parent.record)) != nil
        } catch let error as UpstreamError where !error.concernsWholeUpstream {
            return false
        }
    }

    private func fetchedUnlessRefused(
        _ parent: CacheStore.OutdatedParent, asksAgain: Bool, _ mayBeLarge: Bool
    ) async -> Result<Fetched, UpstreamError> {
        let name = RecordName(entity: entity.name, key: parent.key)
        let now = monotonicNow ?? puller.now
        if !asksAgain, let reason = refused.reason(name, at: now()) {
            return .failure(.refused(status: nil, reason))
        }
        let result = await fetched(for: parent, mayBeLarge)
        switch result {
        case .success: refused.forget(name)
        case .failure(let error) where error.mayConcernRecord: refused.note(name, error.message, at: now())
        case .failure: break
        }
        return result
    }

    private func fetched(
        for parent: CacheStore.OutdatedParent, _ mayBeLarge: Bool
    ) async -> Result<Fetched, UpstreamError> {
        guard let record = try? JSONText(parsing: parent.record) else {
            return .failure(.malformed("\(entity.name)/\(parent.key) cannot be read from the cache"))
        }
        do throws(UpstreamError) {
            return .success(
                fetch.isSingle ? try await single(parent, record) : try await children(of: parent, record, mayBeLarge))
        } catch .gone {
            return .success(Fetched(parent: parent, families: gone(record, parent), isGone: true))
        } catch {
            return .failure(error)
        }
    }

    /// A list that is not there may be an empty one. A record that is not there says nothing of its children.
    private func gone(_ record: JSONText, _ parent: CacheStore.OutdatedParent) -> [String: ChildReader.Family] {
        guard !fetch.isSingle else { return [:] }
        let none = ChildReader.Family(key: key(of: parent, record), children: [], isComplete: false)
        return Dictionary(details.map { ($0.entity, none) }) { first, _ in first }
    }

    private func key(of parent: CacheStore.OutdatedParent, _ record: JSONText) -> JSONText {
        record[entity.key] ?? .string(parent.key)
    }

    private func children(
        of parent: CacheStore.OutdatedParent, _ record: JSONText, _ mayBeLarge: Bool
    ) async throws(UpstreamError) -> Fetched {
        var fetched = Fetched(parent: parent)
        for detail in details where !fetched.isPutBack {
            guard let template = detail.path, let path = entity.path(template, of: record) else {
                throw .malformed("\(parent.key) lacks a field that the path of its children needs")
            }
            var reader = puller.childReader(entity, detail)
            reader.mostBytesAside = mayBeLarge ? nil : mostBytesAside
            fetched.families[detail.entity] = try await reader.family(
                at: path, under: key(of: parent, record), from: puller.upstream)
        }
        return fetched
    }

    private func single(
        _ parent: CacheStore.OutdatedParent, _ record: JSONText
    ) async throws(UpstreamError) -> Fetched {
        var fetched = Fetched(parent: parent)
        // A record without an address of its own is as its list shows it.
        guard entity.recordPath(of: record) != nil else { return fetched }
        guard let found = try await puller.upstream.record(of: entity, known: record)?.record else {
            fetched.isGone = true
            return fetched
        }
        guard entity.isKey(parent.key, of: found) else {
            throw .malformed("asked for \(entity.name)/\(parent.key), the upstream answered another record")
        }
        fetched.record = found
        for detail in details {
            let reader = puller.childReader(entity, detail)
            let (families, problem) = reader.embedded(in: .array([found]))
            if let problem { throw .malformed(problem) }
            fetched.families[detail.entity] = families.first
        }
        return fetched
    }
}
