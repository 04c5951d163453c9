internal import CacheStore
internal import ContentStore
internal import EntitySchema
internal import Logging
internal import Upstream

/// Fetches the content of a record when a caller wants to see it.
struct ContentFetcher: Sendable {
    private let environment: SyncEnvironment
    private let monitor: HealthMonitor
    private let account: AccountCheck
    private let coalescer: RequestCoalescer

    init(_ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck) {
        self.environment = environment
        self.monitor = monitor
        self.account = account
        coalescer = RequestCoalescer(clock: environment.clock, parallel: 2, patience: .seconds(30))
    }

    /// Fetches the content that the record names into the cache, or says why that cannot be done; `.stored` once it is
    /// cached.
    ///
    /// Callers who want the same content share one fetch. Returns after half a minute at the latest; fetching goes on.
    func fetch(_ key: String, _ entity: Entity, for caller: ReadCaller) async -> RefreshOutcome {
        await coalescer.outcome(of: RecordName(entity: entity.name, key: key), for: caller) {
            do {
                return try await download(key, entity)
            } catch let error as UpstreamError {
                return RefreshOutcome(error)
            } catch let error as ContentError {
                return .failed("the answer was not kept: \(error)")
            } catch let error as SyncError {
                return .unavailable("\(error)")
            } catch {
                environment.log.error("a content could not be fetched", metadata: ["error": "\(error)"])
                return .unavailable("\(error)")
            }
        }
    }

    private func download(_ key: String, _ entity: Entity) async throws -> RefreshOutcome {
        let store = environment.store
        guard let plan = entity.content, let contents = environment.contents else { return .unsupported }
        guard let status = try store.contentStatus(of: key, entity.name), let address = status.address else {
            return .absent
        }
        let upstream = monitor.askedUpstream()
        if upstream.serves(address) { try await account.require(from: upstream) }
        let draft = try contents.draft(limit: plan.maximumSize)
        let declared = try await upstream.download(
            address, limit: plan.maximumSize, into: BodySink(paced: environment.monotonicNow) { try draft.write($0) })
        let type = try draft.type(saidToBe: declared, among: plan.types)
        let content = try await contents.finish(draft, type: type)
        try await store.keep(content, of: status.key, entity.name, from: address, at: environment.now()) {
            try contents.install(draft, as: content.sha256)
        }
        return .stored
    }
}
