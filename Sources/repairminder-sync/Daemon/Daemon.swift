internal import CacheStore
internal import CallerLookup
internal import EntitySchema
internal import Foundation
internal import Glibc
internal import LocalAPIServer
internal import Logging
internal import NetworkMonitor
internal import SocketServer
internal import SyncEngine
internal import UnixSignals
internal import Upstream

/// The composition root: makes clock, randomness, files and network, hands them down, and runs until a signal ends it.
struct Daemon {
    let configuration: Configuration
    let schema: EntitySchema
    let now: @Sendable () -> Timestamp
    /// Makes the logger of one part, named in each of its lines.
    let logger: @Sendable (_ label: String) -> Logger

    private var log: Logger { logger("daemon") }

    /// Returns after SIGTERM or SIGINT, with what was in flight finished and the queue kept.
    func run() async throws {
        for warning in configuration.warnings { log.warning("\(warning)") }
        let state = try StateDirectory(path: configuration.stateDirectory, origin: origin)
        let lock = try state.lock()
        defer { lock.release() }
        // Trapped from the start, so that no signal finds its default action.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await signal in signals {
                    log.notice("stopping", metadata: ["signal": "\(signal)"])
                    return
                }
            }
            group.addTask { try await serveAccounts(state) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Serves one account's cache until the token turns out to be another's, then that one's; returns when cancelled.
    private func serveAccounts(_ state: StateDirectory) async throws {
        while true {
            do {
                return try await serve(state)
            } catch SyncError.otherAccount(let account) {
                log.warning(
                    "the token belongs to another account; going on with its own cache",
                    metadata: ["account": "\(account)"])
                try state.use(account: account)
            }
        }
    }

    private func serve(_ state: StateDirectory) async throws {
        let store = try await open(state)
        defer {
            do {
                try store.close()
            } catch {
                log.warning(
                    "the database was not closed cleanly; the next start mends that", metadata: ["error": "\(error)"])
            }
        }
        let start = ContinuousClock.now
        let metrics = Metrics(uptime: { start.duration(to: .now) })
        let engine = try engine(store, metrics)
        let server = try server(store, engine, metrics, state)
        for address in try server.bind() { log.notice("listening", metadata: ["address": "\(address)"]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                async let _ = watchNetwork(for: engine)
                try await engine.run()
            }
            group.addTask {
                try await withTaskCancellationHandler {
                    try await server.run()
                } onCancel: {
                    // Whoever waits for something to happen is answered now, so that the server need not wait for them.
                    store.signal.close()
                }
            }
            group.addTask { try await logKeeper(store, engine).run() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Returns when cancelled, or when the kernel does not tell of changes; probing alone finds out then.
    private func watchNetwork(for engine: SyncEngine) async {
        do {
            try await NetworkMonitor(clock: ContinuousClock()).forEachChange {
                do {
                    try await engine.networkChanged()
                } catch {
                    log.error("a change of the network could not be followed", metadata: ["error": "\(error)"])
                }
            }
        } catch {
            log.notice(
                "the kernel does not tell of network changes; probing finds out", metadata: ["error": "\(error)"])
        }
    }

    // MARK: The parts

    private var origin: CacheOrigin {
        CacheOrigin(schema: schema.name, upstream: configuration.upstream.baseURL ?? schema.upstream.baseURL)
    }

    /// A cache that has learnt its account since the last start is first given that account's name.
    private func open(_ state: StateDirectory) async throws -> CacheStore {
        let makeID: @Sendable () -> String = { UUID().uuidString.lowercased() }
        let sealer = try SecretKeyFile(configuration).sealer()
        var path = try state.choose()
        var store = try CacheStore(path: path, schema: schema, sealer: sealer, makeID: makeID)
        if let account = try store.setting("account"), path != state.path(for: account) {
            try store.close()
            path = try state.name(path, after: account)
            store = try CacheStore(path: path, schema: schema, sealer: sealer, makeID: makeID)
        }
        try await store.claim(for: origin)
        log.info("opened the cache", metadata: ["path": "\(path)"])
        return store
    }

    private func engine(_ store: CacheStore, _ metrics: Metrics) throws -> SyncEngine {
        // This clock goes on while the machine sleeps.
        let start = ContinuousClock.now
        let serverClock = ServerClock(
            now: now, monotonic: { start.duration(to: .now) },
            initialOffset: try SyncEngine.rememberedClockOffset(in: store))
        let upstream = try upstream(serverClock)
        let settings = SyncSettings(
            interval: configuration.sync.interval, fullEvery: configuration.sync.fullEvery,
            deleteGuard: configuration.sync.deleteGuard,
            writeDelay: configuration.sync.writeDelay, parallel: configuration.upstream.parallel,
            retry: RetryPolicy(
                maximumAttempts: configuration.retry.maximumAttempts, base: configuration.retry.base,
                cap: configuration.retry.cap))
        return SyncEngine(
            store: store, schema: schema, upstream: upstream, settings: settings, clock: ContinuousClock(),
            now: now, random: { Double.random(in: 0..<1) }, clockOffset: { serverClock.offset },
            measure: { metrics.record($0) }, log: logger("sync"))
    }

    private func logKeeper(_ store: CacheStore, _ engine: SyncEngine) -> LogKeeper {
        let limits = LogLimits(
            age: .seconds(configuration.history.keepDays * 86_400), count: configuration.history.keepChanges)
        return LogKeeper(
            store: store, limits: limits, isBusy: { await engine.status().state == .syncing }, now: now,
            clock: ContinuousClock(), log: log)
    }

    private func upstream(_ clock: ServerClock) throws -> HTTPUpstream {
        let transport = try CurlTransport(userAgent: "repairminder-sync/\(ProgramVersion.text)")
        return HTTPUpstream(
            plan: schema.upstream, baseURL: configuration.upstream.baseURL, transport: transport,
            token: try credentials(transport, clock), deadline: configuration.upstream.deadline, clock: clock, now: now)
    }

    /// A token file that was named, else the sign-in that `login` keeps, where the schema says how it goes on.
    private func credentials(_ transport: CurlTransport, _ clock: ServerClock) throws -> (any Credentials)? {
        if let path = configuration.upstream.tokenFile { return try BearerToken(path: path) }
        guard let refresh = schema.upstream.refresh else { return nil }
        return RotatingToken(
            plan: schema.upstream, refresh: refresh, baseURL: configuration.upstream.baseURL, transport: transport,
            store: TokenStore(path: configuration.signInFile), clock: clock, now: now)
    }

    private func server(_ store: CacheStore, _ engine: SyncEngine, _ metrics: Metrics, _ state: StateDirectory) throws
        -> SocketServer
    {
        let group = getgrnam(configuration.listen.group).map { $0.pointee.gr_gid }
        let callers = CallerGuard(
            token: try state.apiToken(), owners: [0, getuid()], group: group.map { GroupMembers(of: $0) },
            isRemoteAllowed: configuration.listen.allowRemote, rate: configuration.listen.rate)
        let lookup = CallerLookup()
        if let problem = lookup.problem {
            log.notice("callers over TCP need the token", metadata: ["error": "\(problem)"])
        }
        let api = LocalAPIServer(
            schema: schema, store: store, engine: engine, callers: callers,
            about: LocalAPIServer.About(version: ProgramVersion.text, startedAt: now()),
            calendar: configuration.dashboard.timeZone.flatMap(DashboardCalendar.init(timeZone:)) ?? .ofSystem,
            metrics: metrics, now: now, log: logger("api"))
        return SocketServer(
            listeners: listeners(group: group), threads: configuration.listen.threads,
            handler: { await api.respond(to: $0) },
            lookup: { callers.caller(lookup.credentials(ofPeerOf: $0), over: $1) })
    }

    private func listeners(group: gid_t?) -> [Listener] {
        var listeners: [Listener] = []
        if let tcp = configuration.listen.tcp { listeners.append(.tcp(host: tcp.host, port: UInt16(tcp.port))) }
        // Only the group is let near; without one only our own user.
        if let unix = configuration.listen.unix {
            listeners.append(.unix(path: unix, mode: group == nil ? 0o600 : 0o660, group: group))
        }
        return listeners
    }
}
