internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Pulls records that the upstream serves only with their parent: for each parent that changed, all its children.
///
/// The parents themselves record whether their children are outdated, so an interrupted pull resumes where it stopped,
/// and a pull with nothing to do makes no request.
struct DetailPuller {
    let puller: Puller
    /// Requests in flight.
    let parallel: Int

    private static let batch = 100

    private var store: CacheStore { puller.store }

    private struct Children: Sendable {
        var parent: CacheStore.OutdatedParent
        var family: ChildReader.Family
        /// The upstream has no such list: the parent was deleted, or has none.
        var isGone = false
    }

    private struct Batch: Sendable {
        var children: [Children]
        /// Parents whose list of children is not there.
        var gone: [Children] = []
        var failures: [UpstreamError]
        var lastPK: Int64
        var position: Int64
    }

    /// `all` fetches for every parent, changed or not. Throws the first failure after all other parents are done.
    func pull(for entity: Entity, _ detail: PullPlan.Detail, all: Bool) async throws {
        guard detail.path != nil else { return }
        let all = try all || store.hasMissing(of: detail.entity)
        var failure: UpstreamError?
        var missing: [String: [String]] = [:]
        var fetched = try await fetch(entity, detail, after: 0, all: all)
        while let batch = fetched {
            async let next = fetch(entity, detail, after: batch.lastPK, all: all)
            failure = failure ?? batch.failures.first
            missing.merge(try await write(batch, entity, detail).missing) { $0 + $1 }
            fetched = try await next
        }
        _ = try await puller.settle(missing, of: entity, detail, isFull: all && failure == nil)
        if let failure { throw failure }
        try await noteEnd(of: detail.entity, after: entity)
    }

    /// Stores when the children of all parents were first fetched.
    private func noteEnd(of children: String, after parent: Entity) async throws {
        var cursor = try store.cursor(of: children)
        guard cursor.lastSyncedAt == nil, try store.cursor(of: parent.name).lastSyncedAt != nil else { return }
        cursor.lastSyncedAt = puller.now()
        try await store.setCursor(of: children, to: cursor)
    }

    /// Writes a batch in one transaction: one for each parent would cost an fsync each.
    private func write(_ batch: Batch, _ entity: Entity, _ detail: PullPlan.Detail) async throws -> ChildOutcome {
        let isConfirmed = puller.deletionGuard.confirmed.contains(detail.entity)
        let page = PulledPage(
            entity: entity.name, records: "[]", position: batch.position,
            children: ChildReader(parent: entity, detail: detail)
                .pulled(batch.children.map(\.family), deletes: isConfirmed ? .all : .none),
            details: batch.children.map {
                PulledPage.Detail(parent: entity.name, key: $0.parent.key, value: $0.parent.value)
            })
        return try await store.apply(page, at: puller.now()).children
    }

    private func fetch(_ entity: Entity, _ detail: PullPlan.Detail, after pk: Int64, all: Bool) async throws -> Batch? {
        let parents = try store.parents(of: entity.name, after: pk, all: all, limit: Self.batch)
        guard let last = parents.last else { return nil }
        var batch = Batch(children: [], failures: [], lastPK: last.pk, position: try store.position())
        try await withThrowingTaskGroup(of: Result<Children, UpstreamError>.self) { group in
            var waiting = parents[...]
            func addNext() {
                guard let parent = waiting.popFirst() else { return }
                group.addTask { await children(of: parent, entity, detail) }
            }
            for _ in 0..<parallel { addNext() }
            while let result = try await group.next() {
                switch result {
                case .success(let children) where children.isGone: batch.gone.append(children)
                case .success(let children): batch.children.append(children)
                case .failure(let error) where error.concernsWholeUpstream: throw error
                case .failure(let error): batch.failures.append(error)
                }
                addNext()
            }
        }
        if try await isWell(batch, entity) { batch.children += batch.gone }
        return batch
    }

    /// Whether lists that are not there say that their parents have no children. Behind a gateway none is there, so that
    /// these parents are asked again.
    private func isWell(_ batch: Batch, _ entity: Entity) async throws -> Bool {
        guard batch.children.isEmpty, let first = batch.gone.first else { return true }
        do {
            return try await puller.upstream.record(of: entity, known: JSONText(parsing: first.parent.record)) != nil
        } catch let error as UpstreamError where !error.concernsWholeUpstream {
            return false
        }
    }

    private func children(
        of parent: CacheStore.OutdatedParent, _ entity: Entity, _ detail: PullPlan.Detail
    ) async -> Result<Children, UpstreamError> {
        let record = try? JSONText(parsing: parent.record)
        guard let record, let template = detail.path, let path = entity.path(template, of: record) else {
            return .failure(.malformed("\(parent.key) lacks a field that the path of its children needs"))
        }
        var family = ChildReader.Family(key: record[entity.key] ?? .string(parent.key), children: [], isComplete: false)
        do throws(UpstreamError) {
            try await ChildReader(parent: entity, detail: detail).fetch(&family, at: path, from: puller.upstream)
        } catch .gone {
            return .success(Children(parent: parent, family: family, isGone: true))
        } catch {
            return .failure(error)
        }
        return .success(Children(parent: parent, family: family))
    }
}
