import CallerLookup
import EntitySchema
import Foundation
import Glibc
import JSONText
import LocalAPI
import ReferenceUpstream
import ServiceManager
import ShippedSchemas
import SocketServer
import SystemCalls

/// An upstream with sample records and a daemon that caches it, in one process and one folder.
struct DemoShop: Sendable {
    /// The name of a schema, or the path of its file.
    let schema: String
    /// What the schema names `{$setting.NAME}`: `NAME=VALUE`.
    let settings: [String]
    let rows: Int
    let seed: UInt64
    /// Of the local API; the upstream gets the next one. With 0, or if one is taken, the system chooses.
    let port: UInt16
    /// An empty directory for all files.
    let folder: String

    /// Where everything is once it runs.
    struct Running: Sendable {
        let schema: EntitySchema
        /// The addresses, with `http://`.
        let api: String
        let upstream: String
        let client: LocalAPIClient
    }

    /// Runs until SIGINT or SIGTERM. Calls `ready` when callers are accepted; what it throws ends the demo.
    func run(_ ready: @escaping @Sendable (Running) async throws -> Void) async throws {
        let plan = try setup(upstream: nil).schema
        let server = try server(of: plan)
        guard let upstream = try server.bind().first?.description else { return }
        let setup = try setup(upstream: upstream)
        let (addresses, bindings) = AsyncStream<[BoundAddress]>.makeStream()
        let host = DaemonHost.ofThisProcess(
            environment, notifier: ServiceNotifier(environment: [:]), write: try log(), ready: { bindings.yield($0) })
        let daemon = Daemon(setup, host: host, reread: { try self.setup(upstream: upstream) })
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await daemon.run()
                return true
            }
            group.addTask {
                try await server.run()
                return true
            }
            group.addTask {
                for await bound in addresses {
                    guard let api = bound.first else { break }
                    let shop = Running(
                        schema: plan, api: "\(api)", upstream: upstream, client: try client(setup.configuration))
                    try await ready(shop)
                    break
                }
                return false
            }
            defer { group.cancelAll() }
            while let hasEnded = try await group.next(), !hasEnded {}
        }
    }

    /// The daemon does not trust calls from its own process, so this one sends the token.
    private func client(_ configuration: Configuration) throws -> LocalAPIClient {
        let token = try TokenFile(path: configuration.tokenFile).token(readableBy: geteuid())
        return try DaemonConnection(place: .unix(socket), token: token).client(deadline: .seconds(600))
    }

    private var socket: String { folder + "/api.sock" }

    /// Without the caller's variables and the system's files, which are for the daemon that is installed.
    private var environment: Environment {
        var environment = Environment.ofThisProcess()
        environment.variables = environment.variables.filter { $0.key == "HOME" }
        environment.systemFolder = folder
        return environment
    }

    /// Writes the configuration and reads it back with the schema.
    private func setup(upstream: String?) throws -> Setup {
        // Else the message would name the demo's own directories, which have no schemas.
        guard SchemaFinder.isPath(schema) || ShippedSchemas.names.contains(schema) else {
            let refusal = Suggestion.refusal(of: schema, "schema", among: ShippedSchemas.names)
            throw CommandFailure(.badConfiguration, "\(refusal), or the path of a file")
        }
        let path = SchemaFinder.isPath(schema) ? Environment.ofThisProcess().absolute(schema) : schema
        let configuration = JSONText.object([
            "schema": .string(path), "state_dir": .string(folder + "/state"),
            "upstream": .object(["base_url": .string(upstream ?? "http://127.0.0.1")]),
            "listen": .object([
                "tcp": .string("localhost:\(Self.isFree(port, of: "localhost") ? port : 0)"), "unix": .string(socket),
            ]),
            "dashboard": .object(["time_zone": "Europe/London"]),
        ])
        let file = folder + "/config.yaml"
        // JSON is YAML.
        try Data(configuration.bytes).write(to: URL(fileURLWithPath: file))
        var setup = try SetupReader(
            path: file, flags: [:], maps: [.settings: settings], environment: environment
        ).setup()
        // The sample upstream has all contents, and a schema that was only tried must not reach other programs here.
        setup.configuration.upstream.hasContentsElsewhere = false
        setup.schema.upstream = Self.withoutCredentials(setup.schema.upstream)
        return setup
    }

    /// An upstream that is called without stored credentials: the sample upstream needs none, and a schema that was only tried
    /// must not sign in at a real one.
    static func withoutCredentials(_ upstream: UpstreamPlan) -> UpstreamPlan {
        var open = upstream
        open.session = nil
        open.headers.removeAll { !$0.secretNames.isEmpty }
        return open
    }

    private func server(of schema: EntitySchema) throws -> SocketServer {
        let samples = SampleRecords(for: schema)
        var settings = samples.settings
        settings.checksReferences = true
        settings.seed = seed
        let upstream = ReferenceUpstream(
            schema: schema, records: samples.records(rows: rows, seed: seed, account: settings.account),
            settings: settings, now: StateFiles.now)
        let next = port == 0 || port == .max ? 0 : port + 1
        let listener = Listener.tcp(host: "127.0.0.1", port: Self.isFree(next, of: "127.0.0.1") ? next : 0)
        return upstream.server(at: listener, lookup: Self.callers())
    }

    /// Only this user and root may change something upstream. Nil if the kernel does not say who calls.
    private static func callers() -> Caller.Lookup? {
        let lookup = CallerLookup()
        guard lookup.problem == nil else { return nil }
        return { descriptor, _ in
            guard let user = lookup.credentials(ofPeerOf: descriptor)?.user else { return .unknown }
            return Caller(user: user, access: user == 0 || user == geteuid() ? .owner : .stranger)
        }
    }

    /// Appends each line of the daemon's log to a file.
    private func log() throws -> @Sendable (String) -> Void {
        let file = folder + "/daemon.log"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.temporaryFailure, "cannot write \(file) (\(SystemError.last))")
        }
        return StandardStream(descriptor: descriptor).write
    }

    private static func isFree(_ port: UInt16, of host: String) -> Bool {
        let addresses = ListenAddress("\(host):\(port)")?.addresses ?? []
        var sockets = ListeningSockets()
        defer { sockets.close() }
        do {
            try sockets.change(to: addresses.map { .tcp(host: $0.host, port: $0.port) })
            return true
        } catch {
            return false
        }
    }
}
