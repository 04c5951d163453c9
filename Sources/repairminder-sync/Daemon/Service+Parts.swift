import CacheStore
import CallerLookup
import ContentStore
import EntitySchema
import Foundation
import Glibc
import LocalAPIServer
import Logging
import NetworkMonitor
import Pictures
import SQLiteStore
import ServiceManager
import SocketServer
import Standby
import SyncEngine
import Upstream

/// Creates the parts of a service.
extension Service {
    private var configuration: Configuration { setup.configuration }

    func opener(_ opening: LongWork) -> CacheOpener {
        CacheOpener(
            setup: setup,
            watch: OpeningWatch(
                goesOn: opening.shouldContinue,
                progress: { opening.note("\($0.entity), \(Int($0.share * 100)) %") }),
            now: host.now, log: log)
    }

    func backupKeeper(_ store: CacheStore) -> BackupKeeper {
        BackupKeeper(
            store: store, folder: BackupFolder(setup, database: store.path), settings: configuration.backup,
            now: host.now, clock: TimerClock(), log: log)
    }

    /// Nil when no entity has content.
    func contents(beside path: String) throws -> ContentFolder? {
        guard setup.schema.entities.contains(where: { $0.content != nil }) else { return nil }
        return try ContentFolder(path: "\(path).content")
    }

    func contentKeeper(_ store: CacheStore, _ contents: ContentFolder) -> ContentKeeper {
        ContentKeeper(
            store: store, contents: contents, limit: configuration.content.keepSize, clock: TimerClock(), log: log)
    }

    /// Nil when the schema has no reminders.
    func reminderKeeper(_ store: CacheStore, _ engine: SyncEngine, deliveredBefore: Timestamp?) -> ReminderKeeper? {
        guard !setup.schema.reminders.isEmpty else { return nil }
        let names = setup.schema.reminders.map(\.entity).filter { setup.schema[$0]?.isLocal == false }
        let start = host.now()
        return ReminderKeeper(
            store: store, delivers: configuration.reminders.recipient != nil, deliveredBefore: deliveredBefore,
            isCaughtUp: {
                let entities = engine.status().entities
                return names.allSatisfy { name in entities[name]?.lastSyncedAt.map { $0 > start } ?? false }
            }, now: host.now, clock: TimerClock(),
            log: logger("reminders"))
    }

    func hookKeeper(_ store: CacheStore, _ engine: SyncEngine) throws -> HookKeeper {
        let transport = try transport()
        let hooks = configuration.hooks(for: setup.schema).map { settings in
            settings.hook(
                setup.schema, environment: ProcessInfo.processInfo.environment, clock: TimerClock(),
                transport: transport, now: host.now, log: logger("hooks"))
        }
        let reachability = HookKeeper.Reachability(changed: statusChanged) {
            let status = engine.status()
            // Not known before the first answer.
            let isKnown = !status.isReachable || status.entities.values.contains { $0.lastSyncedAt != nil }
            return isKnown ? status.isReachable : nil
        }
        return HookKeeper(
            store: store, hooks: hooks, reachability: reachability, now: host.now, clock: TimerClock(),
            log: logger("hooks"))
    }

    /// Nil when the mirror is off.
    func mirrorKeeper(_ store: CacheStore) -> MirrorKeeper? {
        guard configuration.mirror.isEnabled else { return nil }
        return MirrorKeeper(
            folder: MirrorFolder(path: configuration.mirror.directory), store: store, schema: setup.schema,
            upstream: setup.origin.upstream, clock: TimerClock(), log: logger("mirror"))
    }

    func engine(
        _ store: CacheStore, _ contents: ContentFolder?, _ meter: ActivityMeter, _ standby: StandbyLink?
    ) throws -> SyncEngine {
        let serverClock = try serverClock(store)
        let settings = SyncSettings(
            interval: configuration.sync.interval, fullEvery: configuration.sync.fullEvery,
            deleteGuard: configuration.sync.deleteGuard,
            writeDelay: configuration.sync.writeDelay, parallel: configuration.upstream.parallel,
            retry: RetryPolicy(
                maximumAttempts: configuration.retry.maximumAttempts, base: configuration.retry.base,
                cap: configuration.retry.cap),
            // A request whose token is rejected is sent again after renewing the token and checking the account; where the
            // token can be checked, each answer may wait for one check that is under way and for another.
            patience: configuration.upstream.deadline * (setup.schema.upstream.check == nil ? 5 : 9) + .seconds(60),
            place: configuration.sync.spread ? host.machine.place(ofDaemonIn: configuration.stateDirectory) : nil,
            schemaHash: setup.schemaHash)
        let remote: any Upstream = try upstream(serverClock, meter)
        return SyncEngine(
            store: store, contents: contents, upstream: standby?.fenced(remote) ?? remote, settings: settings,
            time: SyncTime(clock: TimerClock(), now: host.now, serverOffset: { serverClock.offset }),
            random: { Double.random(in: 0..<1) },
            callbacks: SyncCallbacks(
                measure: { [metrics = host.metrics] in
                    metrics.record($0)
                    meter.note($0)
                }, changed: { [statusChanged] in statusChanged.announce() },
                mayPush: { standby?.lease.mayPush ?? true },
                pause: host.pause
            ), log: logger("sync"))
    }

    private func serverClock(_ store: CacheStore) throws -> ServerClock {
        // This clock keeps running while the machine sleeps.
        let start = ContinuousClock.now
        return ServerClock(
            now: host.now, monotonic: { start.duration(to: .now) },
            initialOffset: try SyncEngine.rememberedClockOffset(in: store))
    }

    func logKeeper(_ store: CacheStore, _ engine: SyncEngine) -> LogKeeper {
        let limits = LogLimits(
            age: .seconds(configuration.history.keepDays * 86_400), count: configuration.history.keepChanges)
        return LogKeeper(
            store: store, limits: limits, isBusy: { engine.status().state == .syncing }, now: host.now,
            clock: TimerClock(), log: log)
    }

    private func transport() throws -> CurlTransport {
        try CurlTransport(
            userAgent: ProgramVersion.userAgent, isLinkDown: { OutgoingLink.isDown(to: $0) },
            ownAddresses: (configuration.listen.tcp?.addresses ?? []).map { ($0.host, $0.port) })
    }

    func activityKeeper(_ store: CacheStore, _ meter: ActivityMeter) -> ActivityKeeper {
        ActivityKeeper(store: store, meter: meter, now: host.now, clock: TimerClock(), log: log)
    }

    private func upstream(_ clock: ServerClock, _ meter: ActivityMeter) throws -> HTTPUpstream {
        let access = configuration.access(
            to: setup.schema.upstream, over: ObservedTransport(try transport(), note: meter.noteRequest),
            clock: clock, budget: requestBudget(), now: host.now)
        return HTTPUpstream(
            access, token: try credentials(access), deadline: configuration.upstream.deadline,
            contents: ContentOrigins(
                allowsElsewhere: configuration.upstream.hasContentsElsewhere,
                allowsPlainHTTP: configuration.upstream.allowPlainHTTP),
            elsewhere: { [setup, schemas = host.schemas] in
                schemas.lists(besides: setup.schema, for: setup.configuration)
            })
    }

    /// Nil if the schema has no limits.
    private func requestBudget() -> RequestBudget? {
        guard let limits = setup.schema.upstream.limits else { return nil }
        let start = ContinuousClock.now
        let journal = limits.windows.map(\.requests).max().flatMap { most in
            RequestJournalFile(path: "\(configuration.stateDirectory)/request-times", limit: most, now: host.now)
        }
        return RequestBudget(
            limits: limits, ages: journal?.ages ?? [], monotonic: { start.duration(to: .now) },
            sleep: { try await TimerClock().sleep(for: $0) }, journal: journal)
    }

    /// The configured token file; otherwise the sign-in saved by `login`, or one with stored credentials, if the schema
    /// says how.
    private func credentials(_ access: UpstreamAccess) throws -> (any Credentials)? {
        let plan = access.plan
        if let path = configuration.upstream.tokenFile { return try FileToken(path: path, for: plan.tokenPlace) }
        guard plan.refresh != nil || plan.session != nil else { return nil }
        return RotatingToken(
            access, store: configuration.tokenStore,
            refusals: SignInRefusalFile(
                path: configuration.signInRefusalFile, random: { .random(in: UInt64.min...UInt64.max) }))
    }

    /// Nil when the schema has no sign-in for people, or a token file takes its place.
    private func signInDesk(_ store: CacheStore) throws -> SignInDesk? {
        let plan = setup.schema.upstream
        guard configuration.upstream.tokenFile == nil, let refresh = plan.refresh, !plan.login.isEmpty else {
            return nil
        }
        let session = try SignInSession(
            configuration.access(to: plan, over: transport(), clock: serverClock(store), now: host.now),
            refresh: refresh, deadline: configuration.upstream.deadline)
        return SignInDesk(
            ways: plan.login, session: session, store: configuration.tokenStore, now: host.now,
            makeID: RandomID.make)
    }

    /// Nil when the upstream makes no calls to this machine.
    func webhookServer(_ engine: SyncEngine, at listeners: [Listener]) throws -> SocketServer? {
        guard !listeners.isEmpty, let path = configuration.signals.secretFile else { return nil }
        let sources = setup.schema.upstream.signals.filter(\.isWebhook)
        let receiver = WebhookReceiver(
            sources: sources, secrets: try SignalSecrets(path: path).read(),
            limit: RateLimit(perSecond: 200, burst: 1000, now: { .now }), now: host.now,
            accept: { engine.take($0, from: $1) }, refuse: { engine.refuseSignal(from: $0) })
        let lookup = CallerLookup()
        return SocketServer(
            listeners: listeners, limits: WebhookReceiver.limits, threads: 1, handler: { receiver.respond(to: $0) },
            lookup: { descriptor, _ in
                Caller(user: lookup.credentials(ofPeerOf: descriptor)?.user, access: .stranger)
            })
    }

    /// Answers callers at an address that only the socket unit names: they would wait without an answer otherwise. Nil
    /// when there is none.
    func wrongAddressServer(_ listeners: [Listener]) -> SocketServer? {
        guard !listeners.isEmpty else { return nil }
        let served = [configuration.listen.tcp?.description, configuration.listen.unix].compactMap(\.self)
        let text = """
            The daemon does not serve this address: call \(served.joined(separator: " or ")). Its administrator can give \
            the socket unit the same addresses as listen in the configuration: systemctl edit repairminder-sync.socket

            """
        let response = Response(
            status: 421, headers: [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")],
            body: Array(text.utf8))
        return SocketServer(listeners: listeners, threads: 1, handler: { _ in response }, screen: { _ in response })
    }

    private func about(_ store: CacheStore, _ state: StateDirectory) throws -> DaemonDescription {
        DaemonDescription(
            version: ProgramVersion.text, startedAt: host.startedAt,
            warnings: try configuration.plainHTTP(with: setup.schema)
                + [configuration.bundle?.warning].compactMap(\.self) + leftBehind(store, state),
            instance: configuration.instance ?? host.machine.hostName, site: configuration.site ?? "",
            schemaHash: setup.schemaHash, bundle: configuration.bundle?.serial,
            rejection: { [rejection] in rejection.value }, command: { [configuration] in configuration.command($0) })
    }

    /// A warning for each other database with queued changes, of any account, upstream or schema.
    private func leftBehind(_ store: CacheStore, _ state: StateDirectory) throws -> [String] {
        let elsewhere =
            state.leftElsewhere(besides: store.path).map { path, upstream in
                "\(path) has queued changes for \(upstream) that are not sent; set upstream.base_url to it until they "
                    + "are, or move the cache (database move-upstream) if this is the same upstream"
            }
            + state.leftByOtherSchemas().map { path, schema in
                "\(path) has queued changes of the schema \(schema) that are not sent; use that schema until they are"
            }
        // A new cache does not have its account yet.
        let account = try store.account()
        let own = account.map { state.left(by: $0, besides: store.path) } ?? []
        return elsewhere
            + own.map { path in
                "\(path) has queued changes of this account that are not sent; restart the daemon when nothing is queued, "
                    + "and it takes that database"
            }
            + state.left(byOthersThan: account, besides: store.path).map { path, other in
                "\(path) has queued changes of the account \(other) that are not sent; sign in with that account, or "
                    + "set its token and reload, until they are"
            }
    }

    func server(
        _ store: CacheStore, _ engine: SyncEngine, _ state: StateDirectory, _ standby: StandbyLink?, at sockets: Sockets
    ) throws -> SocketServer {
        let callers = CallerGuard(
            token: try state.apiToken(), owners: [0, getuid()], group: setup.group.map { GroupMembers(of: $0) },
            isRemoteAllowed: configuration.listen.allowRemote,
            hosts: OwnHosts(sockets.addresses, hasIPv6: ListenAddress.hasIPv6Loopback),
            tcpWithoutToken: configuration.listen.tcpWithoutToken, rate: configuration.listen.rate)
        let lookup = CallerLookup()
        if let problem = lookup.problem {
            log.notice("callers over TCP must send the token", metadata: ["error": "\(problem)"])
        }
        let checks = RunningChecks(
            configuration: configuration, schema: setup.schema, finder: host.schemas, database: store.path,
            now: host.now)
        let api = LocalAPIServer(
            store: store, engine: engine, callers: callers, about: try about(store, state),
            calendar: configuration.calendar,
            parts: DaemonParts(
                signIns: try signInDesk(store), standby: standby?.part,
                thumbnailer: Thumbnailer(executable: "/proc/self/exe"),
                doctor: { checks.findings($0).map(\.json) }),
            runtime: APIRuntime(
                now: host.now, clock: TimerClock(), metrics: host.metrics,
                ids: RequestIDs(start: .random(in: .min ... .max)), log: logger("api")))
        return SocketServer(
            listeners: sockets.served, threads: configuration.listen.threads,
            answering: { api.reply(to: $0) },
            lookup: { descriptor, peer in
                let found = lookup.credentials(ofPeerOf: descriptor)
                // Only something that the upstream or a record names could make the daemon call itself.
                let isItself = found?.user == geteuid() && OwnProcess.isPeer(of: descriptor)
                return callers.caller(isItself ? nil : found, over: peer)
            }, streams: api.streamLimit, bodies: api.bodyLimit,
            screen: api.refusal)
    }
}
