internal import Glibc

/// The listening sockets that a service manager opened for this process (sd_listen_fds(3)).
///
/// The manager keeps them open while the process restarts, so callers wait instead of being refused, and no other process
/// can take the address.
package struct InheritedSockets: Sendable {
    /// Unique to this process: child processes do not inherit them.
    package let descriptors: [Int32]

    /// The first one (sd_listen_fds(3)).
    private static let first: Int32 = 3
    /// More than any unit has; a greater number is a mistake.
    private static let most: Int32 = 64

    /// Reads `LISTEN_PID` and `LISTEN_FDS`; without them, or when they are for another process, there are none.
    package init(environment: [String: String], pid: Int32) {
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == pid,
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), (1...Self.most).contains(count)
        else {
            descriptors = []
            return
        }
        descriptors = (Self.first..<Self.first + count).filter { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
    }

    // MARK: A start that fails for good

    /// How long callers are refused: with their calls they cannot start the service more often than this.
    private static let patience = Duration.seconds(5)
    /// The most refused connections that are kept open.
    private static let mostRefused = 256

    /// If a caller waits, answers 503 to it and to all who call within the next seconds. Call it before a start fails for
    /// good: as long as a connection waits, the manager starts the service again at once.
    package func refuseCallers() {
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
        let end = ContinuousClock.now + Self.patience
        var timeout = Duration.zero
        // Closed late: a connection that is closed with an unread request loses the answer.
        var refused: [Int32] = []
        while !descriptors.isEmpty, timeout >= .zero, isCalled(within: timeout) {
            for caller in descriptors.map({ accept($0, nil, nil) }) where caller >= 0 {
                Self.refuse(caller)
                refused.append(caller)
            }
            while refused.count > Self.mostRefused { close(refused.removeFirst()) }
            timeout = ContinuousClock.now.duration(to: end)
        }
        refused.forEach { close($0) }
    }

    private func isCalled(within time: Duration) -> Bool {
        var events = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
        return poll(&events, nfds_t(events.count), Int32(milliseconds)) > 0
    }

    private static func refuse(_ caller: Int32) {
        let text = "The daemon cannot start; its log and systemctl status repairminder-sync say why.\n"
        let answer = """
            HTTP/1.1 503 Service Unavailable\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Length: \(text.utf8.count)\r
            Cache-Control: no-store\r
            Retry-After: \(patience.components.seconds)\r
            Connection: close\r
            \r
            \(text)
            """
        let bytes = Array(answer.utf8)
        send(caller, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        shutdown(caller, Int32(SHUT_WR))
    }
}
