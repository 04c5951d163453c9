import EntitySchema
import JSONText
import ReferenceUpstream
import SocketServer
import Synchronization
import Testing
import Upstream

/// An upstream with three customers: the simulated one, or HTTP to the reference upstream.
enum ContractFixture: String, CaseIterable, Sendable {
    case simulated, http

    /// A failure of the next push.
    enum Failure: Sendable {
        case fails, losesAnswer, throttles, refusesToken
    }

    struct Subject: Sendable {
        var upstream: any Upstream
        var schema: EntitySchema
        var failNext: @Sendable (Failure) -> Void
        /// The number of customers upstream.
        var count: @Sendable () -> Int
    }

    typealias Body = @Sendable (Subject) async throws -> Void

    func run(_ body: @escaping Body) async throws {
        var settings = SimulationSettings(seed: 1)
        settings.idempotency = true
        settings.sortsByKey = true
        settings.newestFirst = false
        settings.versions = false
        settings.pageSize = 2
        settings.renames = true
        switch self {
        case .simulated: try Self.runSimulated(settings, body)
        case .http: try await Self.runHTTP(settings.schema(), body)
        }
    }

    private static func customer(_ number: Int) -> [(key: String, value: JSONText)] {
        [("name", .string("name \(number)")), ("phone", .string("phone \(number)"))]
    }

    // MARK: Simulated

    private final class Outcome: Sendable {
        let result = Mutex<Result<Void, any Error>?>(nil)
    }

    /// Runs the body on the simulation's thread, in simulated time.
    private static func runSimulated(_ settings: SimulationSettings, _ body: @escaping Body) throws {
        let executor = SimulatedExecutor(seed: 1)
        let log = EventLog(executor: executor)
        let server = SimulatedServer(schema: try settings.schema(), settings: settings, executor: executor, log: log)
        for number in 1...3 {
            server.create("customers", customer(number))
            executor.run(for: .seconds(60))
        }
        let network = SimulatedNetwork()
        let subject = Subject(
            upstream: SimulatedUpstream(
                daemon: 0, server: server, network: network,
                clock: ServerClock(now: { server.now }, monotonic: { executor.now })), schema: server.schema,
            failNext: { failure in
                switch failure {
                case .fails: network.add(.failsBefore, times: 1)
                case .losesAnswer: network.add(.lostAfter, times: 1)
                case .throttles: network.add(.throttled, times: 1)
                case .refusesToken: network.add(.unauthorized, times: 1)
                }
            }, count: { server.records("customers").count })
        let outcome = Outcome()
        EnqueueHook.withJobs(takenBy: { executor.enqueue($0) }) {
            Task {
                do {
                    try await body(subject)
                    outcome.result.withLock { $0 = .success(()) }
                } catch {
                    outcome.result.withLock { $0 = .failure(error) }
                }
            }
            executor.run(for: .seconds(600))
        }
        try #require(outcome.result.withLock { $0 }).get()
    }

    // MARK: HTTP

    private static func runHTTP(_ schema: EntitySchema, _ body: Body) async throws {
        let records = (1...3).map { number in
            JSONText.object(
                members: [("id", .string("c\(number)"))] + customer(number) + [
                    ("updated_at", .string((SimulatedClock.beginning + .seconds(60 * number)).description))
                ])
        }
        let now = SimulatedClock.beginning + .seconds(600)
        let reference = ReferenceUpstream(schema: schema, records: ["customers": records], now: { now })
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { await reference.respond(to: $0) }
        guard let address = try server.bind().first?.description else { return }
        let running = Task { try await server.run() }
        defer { running.cancel() }
        let upstream = HTTPUpstream(
            UpstreamAccess(
                plan: schema.upstream, baseURL: address, transport: try CurlTransport(userAgent: "test"), now: { now }),
            token: nil, deadline: .seconds(5))
        try await body(
            Subject(
                upstream: upstream, schema: schema,
                failNext: { failure in
                    switch failure {
                    case .fails: reference.faults = Faults([Faults.Rule(.fail(status: 500), next: 1)])
                    case .losesAnswer: reference.faults = Faults([Faults.Rule(.cutBody, next: 1)])
                    case .throttles:
                        reference.faults = Faults([Faults.Rule(.fail(status: 429, retryAfter: "20"), next: 1)])
                    case .refusesToken: reference.faults = Faults([Faults.Rule(.fail(status: 401), next: 1)])
                    }
                }, count: { reference.records(of: "customers").count }))
    }
}
