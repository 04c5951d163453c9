import EntitySchema
import JSONText
import LocalAPIServer
import SocketServer

/// Answers the calls by which the upstream reports changes.
///
/// A call can do nothing but cause a read: what it says about a record is not stored, and no answer reveals anything.
struct WebhookReceiver: Sendable {
    /// By path.
    private let sources: [String: SignalSource]
    private let secrets: [[UInt8]]
    private let limit: RateLimit
    private let now: @Sendable () -> Timestamp
    /// A call with a valid signature came.
    private let accept: @Sendable (JSONText, SignalSource) -> Void
    /// A call without one came.
    private let refuse: @Sendable (SignalSource) -> Void

    private static let longestChallenge = 200

    init(
        sources: [SignalSource], secrets: [[UInt8]], limit: RateLimit, now: @escaping @Sendable () -> Timestamp,
        accept: @escaping @Sendable (JSONText, SignalSource) -> Void,
        refuse: @escaping @Sendable (SignalSource) -> Void
    ) {
        self.sources = Dictionary(sources.map { ($0.path, $0) }) { first, _ in first }
        self.secrets = secrets
        self.limit = limit
        self.now = now
        self.accept = accept
        self.refuse = refuse
    }

    /// What callers may use. All share the connections fairly, because a call shows whose it is only once it has been read.
    static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.bodyBytes = 256 << 10
        limits.connections = 64
        limits.strangerConnections = limits.connections
        limits.ownerConnections = 0
        limits.head = .seconds(5)
        limits.body = .seconds(10)
        limits.idle = .seconds(15)
        return limits
    }

    /// A refused caller loses the connection.
    func respond(to request: Request) -> Response {
        var response = answer(to: request)
        response.closes = [401, 404, 405].contains(response.status)
        return response
    }

    private func answer(to request: Request) -> Response {
        if limit.take(RateLimit.Key(request)) != nil {
            return Response(status: 429, headers: [("Retry-After", "1")])
        }
        guard let source = sources[request.path], case .webhook(let webhook) = source.kind else {
            return Response(status: 404)
        }
        switch request.method {
        case "POST":
            guard CallSignature(plan: webhook.signature, secrets: secrets, now: now()).isValid(request) else {
                refuse(source)
                return Response(status: 401, headers: [("WWW-Authenticate", "Signature")])
            }
            accept(Self.message(request.body), source)
            return Response(status: 204)
        case "GET" where webhook.challenge != nil: return challenge(webhook.challenge ?? "", request)
        default:
            return Response(status: 405, headers: [("Allow", webhook.challenge == nil ? "POST" : "GET, POST")])
        }
    }

    /// A body that is no JSON still says that something has changed.
    private static func message(_ body: [UInt8]) -> JSONText {
        (try? JSONText(body)) ?? .string(String(decoding: body, as: UTF8.self))
    }

    /// Repeats the value of a parameter, by which an upstream checks that the address is the right one.
    private func challenge(_ name: String, _ request: Request) -> Response {
        guard let value = PercentCoding.parameters(request.query)?.first(where: { $0.name == name })?.value,
            value.utf8.count <= Self.longestChallenge, value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { return Response(status: 400) }
        return Response(
            status: 200,
            headers: [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")],
            body: Array(value.utf8))
    }
}
