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
    /// For contents at other hosts, so that these do not hold up the upstream's own.
    private let elsewhere: RequestCoalescer
    private let slow: SlowContents

    init(_ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck) {
        self.environment = environment
        self.monitor = monitor
        self.account = account
        coalescer = RequestCoalescer(clock: environment.clock, parallel: 2, patience: .seconds(30))
        elsewhere = RequestCoalescer(clock: environment.clock, parallel: 2, patience: .seconds(30))
        slow = SlowContents(clock: environment.clock)
    }

    /// Fetches the content that the record names into the cache, or says why that cannot be done; `.stored` once it is
    /// cached.
    ///
    /// Callers who want the same content share one fetch. Returns after half a minute at the latest; fetching goes on.
    func fetch(_ key: String, _ entity: Entity, for caller: ReadCaller) async -> RefreshOutcome {
        await places(key, entity).outcome(of: RecordName(entity: entity.name, key: key), for: caller) {
            do {
                return try await download(key, entity)
            } catch let error as UpstreamError {
                return RefreshOutcome(error)
            } catch let error as ContentError {
                return .failed("the answer was not kept: \(error)")
            } catch is SlowContents.GaveWay {
                return .busy
            } catch let error as SyncError {
                return .unavailable("\(error)")
            } catch {
                environment.log.error("a content could not be fetched", metadata: ["error": "\(error)"])
                return .unavailable("\(error)")
            }
        }
    }

    /// The places that this content has to wait for.
    private func places(_ key: String, _ entity: Entity) -> RequestCoalescer {
        let address = try? environment.store.contentStatus(of: key, entity.name)?.address
        return address.map { monitor.askedUpstream().serves($0) } ?? true ? coalescer : elsewhere
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
        let pace = DownloadPace(now: environment.monotonicNow)
        let sink = BodySink(pace) { try draft.write($0) }
        let declared: String?
        if upstream.serves(address) {
            declared = try await upstream.download(address, limit: plan.maximumSize, into: sink)
        } else {
            declared = try await slow.type(
                of: pace, isAwaited: { await elsewhere.waitingCount > 0 },
                download: { try await upstream.download(address, limit: plan.maximumSize, into: sink) })
        }
        let type = try draft.type(saidToBe: declared, among: plan.types)
        let content = try await contents.finish(draft, type: type)
        try await store.keep(content, of: status.key, entity.name, from: address, at: environment.now()) {
            try contents.install(draft, as: content.sha256)
        }
        return .stored
    }
}
