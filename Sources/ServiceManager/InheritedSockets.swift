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

    /// Closes the connections that wait. Call it before a start fails for good: as long as one waits, the manager starts
    /// the service again at once.
    package func closeWaiting() {
        for descriptor in descriptors {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
            while case let waiting = accept(descriptor, nil, nil), waiting >= 0 { close(waiting) }
        }
    }
}
