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
    /// Reads a record for another address of its content.
    private let refresher: RecordRefresher

    init(_ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck, refresher: RecordRefresher) {
        self.environment = environment
        self.monitor = monitor
        self.account = account
        self.refresher = refresher
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
                return try await download(key, entity, for: caller)
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

    /// An address that a record names may have expired, as signed ones do: the record is read for another one, once.
    private func download(_ key: String, _ entity: Entity, for caller: ReadCaller) async throws -> RefreshOutcome {
        guard let plan = entity.content, let contents = environment.contents else { return .unsupported }
        guard let status = try status(key, entity), let address = status.address else { return .absent }
        do {
            try await download(address, of: status.key, entity, plan, into: contents)
        } catch let error where plan.address != nil && mayBeExpired(error) {
            guard await refresher.refresh(entity, key: key, for: caller) == .stored,
                let status = try self.status(key, entity), let other = status.address, other != address
            else { throw error }
            try await download(other, of: status.key, entity, plan, into: contents)
        }
        return .stored
    }

    private func status(_ key: String, _ entity: Entity) throws -> ContentStatus? {
        try environment.store.contentStatus(of: key, entity.name)
    }

    /// Whether another address may have what this one has not. A host that fails, or does not answer, does so at each.
    private func mayBeExpired(_ error: any Error) -> Bool {
        switch error {
        case let error as UpstreamError:
            !error.concernsWholeUpstream && error.status.map { (300..<500).contains($0) && $0 != 429 } ?? false
        case ContentError.unwelcome: true
        default: false
        }
    }

    private func download(
        _ address: String, of key: String, _ entity: Entity, _ plan: ContentPlan, into contents: ContentFolder
    ) async throws {
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
        try await environment.store.keep(content, of: key, entity.name, from: address, at: environment.now()) {
            try contents.install(draft, as: content.sha256)
        }
    }
}
