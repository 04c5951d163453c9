internal import Glibc

/// Counts what comes on a connection for one exchange, and says when that is too much beside the body.
///
/// libcurl reads extensions of chunks and empty blocks of a compressed body, and forgets them. However many came, no limit of a
/// body would be reached, and a stream could keep the thread of all requests busy for a day.
struct WireMeter {
    /// Heads, and what the kernel has received ahead.
    private static let base = 32 << 20
    /// For a server that writes a few bytes at a time: a chunk around them and a record of TLS around it take some forty.
    private static let perBodyByte = 16
    /// For each second: pings and the like, also on a stream without events.
    private static let perSecond = 64 << 10
    /// The shortest time between two looks, each of which is a system call.
    private static let interval = Duration.milliseconds(100)

    private let socket: Int32
    /// What the connection had received for earlier exchanges.
    private let before: Int
    private let begun = ContinuousClock.now
    private var lookedAt = ContinuousClock.now

    /// Nil for a socket other than TCP's.
    init?(_ socket: Int32) {
        guard let before = Self.received(by: socket) else { return nil }
        self.socket = socket
        self.before = before
    }

    /// `body` is the decoded bytes so far. Call it often: it looks only now and then.
    mutating func isExceeded(body: Int) -> Bool {
        let now = ContinuousClock.now
        guard now - lookedAt >= Self.interval, let received = Self.received(by: socket) else { return false }
        lookedAt = now
        return Self.isTooMuch(received: received - before, body: body, after: now - begun)
    }

    static func isTooMuch(received: Int, body: Int, after time: Duration) -> Bool {
        let seconds = Int(time.components.seconds)
        return received > base + perBodyByte * body + perSecond * seconds
    }

    /// All bytes that the kernel has received on a TCP connection, unread ones too: `tcpi_bytes_received` of `tcp_info`
    /// (linux/tcp.h), the seventeenth word. Nil for another socket.
    static func received(by socket: Int32) -> Int? {
        var words = [UInt64](repeating: 0, count: 17)
        let all = socklen_t(words.count * MemoryLayout<UInt64>.size)
        var size = all
        guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &words, &size) == 0, size == all else { return nil }
        return words.last.flatMap { Int(exactly: $0) }
    }
}
