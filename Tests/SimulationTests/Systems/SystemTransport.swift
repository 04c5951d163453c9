import EntitySchema
import JSONText
import ReferenceUpstream
import SocketServer
import Synchronization
import Upstream

/// Sends requests to a reference upstream in the same process, in simulated time, and records the bodies sent.
final class SystemTransport: HTTPTransport {
    let reference: ReferenceUpstream
    private let executor: SimulatedExecutor
    private let clock: SimulatedClock
    private let log: EventLog
    private let online = Mutex(true)
    private let sent = Mutex<[String]>([])
    private let times = Mutex<[Duration]>([])

    init(_ reference: ReferenceUpstream, clock: SimulatedClock, executor: SimulatedExecutor, log: EventLog) {
        self.reference = reference
        self.clock = clock
        self.executor = executor
        self.log = log
    }

    func setOnline(_ isOnline: Bool) { online.withLock { $0 = isOnline } }

    /// The most requests that arrived within any time of this length.
    func most(within span: Duration) -> Int {
        times.withLock { $0 }.most(within: span)
    }

    /// The bodies of all requests that were applied, in order.
    var applied: [String] {
        let bodies = sent.withLock { $0 }
        return reference.log.filter { $0.applied }.compactMap { entry in
            entry.appliedText ?? (bodies.indices.contains(entry.seq - 1) ? bodies[entry.seq - 1] : nil)
        }
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard online.withLock({ $0 }) else { throw .unreachable("no route") }
        try await travel()
        times.withLock { $0.append(executor.now) }
        let answer: Response
        let what = "\(request.method) \(request.url.dropFirst("http://simulated".count))"
        log.add("daemon requests \(what) \(String(decoding: request.body ?? [], as: UTF8.self))")
        do {
            // No other job runs between these two, so the request is the next one in the upstream's log.
            sent.withLock { $0.append(String(decoding: request.body ?? [], as: UTF8.self)) }
            answer = try await reference.exchange(Self.received(request))
        } catch {
            log.add("upstream: \(what) → \(error)")
            throw error == .refused ? .unreachable("refused") : .ambiguous("\(error)")
        }
        log.add("upstream: \(what) → \(answer.status) \(Self.start(of: answer.body))")
        try await travel()
        guard online.withLock({ $0 }) else { throw .ambiguous("the connection was cut") }
        guard answer.ending == .complete, case .bytes(let body) = answer.body else { throw .ambiguous("cut off") }
        return HTTPResponse(
            status: answer.status, headers: answer.headers.map { HTTPHeader($0.name, $0.value) }, body: body)
    }

    private func travel() async throws(TransportError) {
        do {
            try await clock.sleep(for: .milliseconds(executor.random { $0.within(1...200) }))
        } catch {
            throw .cancelled
        }
    }

    private static func start(of body: Response.Body) -> String {
        guard case .bytes(let bytes) = body else { return "" }
        return String(decoding: bytes.prefix(400), as: UTF8.self)
    }

    private static func received(_ request: HTTPRequest) -> Request {
        let target = request.url.dropFirst("http://simulated".count).split(separator: "?", maxSplits: 1)
        var headers = Headers()
        for header in request.headers { headers.append(name: header.name, value: header.value) }
        return Request(
            method: request.method, path: String(target.first ?? "/"),
            query: target.count > 1 ? String(target[1]) : nil, headers: headers, body: request.body ?? [])
    }
}
