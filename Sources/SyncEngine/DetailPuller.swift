internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Pulls records that the upstream serves only with their parent: for each parent that changed, all its children.
///
/// Which parents those are is kept with the parents themselves, so a pull that is cut off goes on where it stopped, and
/// one with nothing to do asks for nothing.
struct DetailPuller {
    let store: CacheStore
    let upstream: any Upstream
    let parallel: Int
    let now: @Sendable () -> Timestamp

    private static let batch = 100

    private struct Children: Sendable {
        var parent: CacheStore.OutdatedParent
        var lists: [JSONText]
    }

    private struct Batch: Sendable {
        var children: [Children]
        var failures: [UpstreamError]
        var lastPK: Int64
        var position: Int64
    }

    /// `all` fetches for every parent, changed or not. Throws the first failure after all others were done.
    func pull(for entity: Entity, _ detail: PullPlan.Detail, all: Bool) async throws {
        var failure: UpstreamError?
        var fetched = try await fetch(entity, detail, after: 0, all: all)
        while let batch = fetched {
            async let next = fetch(entity, detail, after: batch.lastPK, all: all)
            failure = failure ?? batch.failures.first
            try await write(batch, entity, detail)
            fetched = try await next
        }
        if let failure { throw failure }
    }

    private func write(_ batch: Batch, _ entity: Entity, _ detail: PullPlan.Detail) async throws {
        // Written together: a transaction for each parent would cost an fsync for each.
        let records = batch.children.flatMap(\.lists).flatMap(\.elements)
        let page = PulledPage(
            entity: detail.entity, records: JSONText.array(records).text, position: batch.position,
            details: batch.children.map {
                PulledPage.Detail(parent: entity.name, key: $0.parent.key, value: $0.parent.value)
            })
        _ = try await store.apply(page, at: now())
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
                case .success(let children): batch.children.append(children)
                case .failure(let error) where error.concernsWholeUpstream: throw error
                case .failure(let error): batch.failures.append(error)
                }
                addNext()
            }
        }
        return batch
    }

    private func children(
        of parent: CacheStore.OutdatedParent, _ entity: Entity, _ detail: PullPlan.Detail
    ) async -> Result<Children, UpstreamError> {
        do throws(UpstreamError) {
            guard let record = try? JSONText(parsing: parent.record),
                let template = detail.path, let path = entity.path(template, of: record)
            else { throw .malformed("\(parent.key) lacks a field that the path of its children needs") }
            var lists: [JSONText] = []
            var position: String?
            repeat {
                let page = try await upstream.page(PageRequest(path: path, list: detail.list, position: position))
                lists.append(page.records)
                position = page.next
            } while position != nil
            return .success(Children(parent: parent, lists: lists))
        } catch .gone {
            // The parent went away; its own tombstone is on its way.
            return .success(Children(parent: parent, lists: []))
        } catch {
            return .failure(error)
        }
    }
}
