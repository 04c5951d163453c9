internal import Glibc
internal import Logging
internal import SocketServer
internal import Synchronization

/// Counts callers that may not call, and logs them: each user at most once a minute for each reason, and at most a
/// hundred lines a minute in all, whatever they send.
final class RefusalLog: Sendable {
    private struct Kind: Hashable {
        var reason: RefusedCaller
        /// Nil for callers that the kernel does not know.
        var user: UInt32?
    }

    private let metrics: Metrics
    private let log: Logger
    private let logged = Mutex<[Kind: Duration]>([:])
    private static let pause = Duration.seconds(60)
    /// The most lines a minute: in a user namespace, one person can call as 65,536 users.
    private static let most = 100

    init(metrics: Metrics, log: Logger) {
        self.metrics = metrics
        self.log = log
    }

    func note(_ reason: RefusedCaller, _ request: Request) {
        metrics.refused[reason.rawValue].add(1)
        let now = metrics.uptime()
        let kind = Kind(reason: reason, user: request.caller.user)
        let isDue = logged.withLock { logged in
            if let last = logged[kind], now - last < Self.pause { return false }
            logged = logged.filter { now - $0.value < Self.pause }
            guard logged.count < Self.most else { return false }
            logged[kind] = now
            return true
        }
        guard isDue else { return }
        log.notice(
            "refused a caller",
            metadata: [
                "reason": "\(reason.rawValue)", "user": "\(request.caller.user.map(String.init) ?? "unknown")",
                "from": "\(Self.place(request.peer))", "program": "\(Self.program(request.peer))",
                "request_id": "\(request.id)",
            ])
    }

    /// The name of the program on a Unix socket, if /proc shows it; the kernel does not say which one calls over TCP.
    private static func program(_ peer: Peer) -> String {
        guard case .unix(let pid, _, _) = peer else { return "unknown" }
        let file = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "unknown" }
        defer { close(file) }
        // The kernel keeps 15 characters, and ends them with a newline.
        var name = [UInt8](repeating: 0, count: 64)
        let count = read(file, &name, name.count)
        return String(decoding: name.prefix(max(count, 0)).prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// A Unix socket has the process id of its caller; TCP its address.
    private static func place(_ peer: Peer) -> String {
        switch peer {
        case .unix(let pid, _, _): "process \(pid)"
        case .tcp(let remote, _): remote.address
        case .unknown: "unknown"
        }
    }
}
