import CLinux
import Glibc

/// What the event loop reports to a connection.
extension Connection: EventSource {
    nonisolated var turnTaker: ConnectionHolder? { ConnectionHolder(caller, peer) }

    nonisolated func ready(_ events: UInt32) {
        assumeIsolated { connection in
            if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
                connection.isReadable = true
            }
            if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
                connection.peerClosed = true
                connection.noticeClosing()
            }
            if let turn = connection.turn.take() { return turn.resume() }
            if !connection.answersAtOnce() { connection.resume() }
        }
    }

    nonisolated func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        assumeIsolated { connection in
            guard let deadline = connection.deadline, deadline <= now else { return connection.deadline }
            connection.deadline = nil
            connection.resume()
            return nil
        }
    }

    nonisolated func drain() {
        assumeIsolated { connection in
            connection.isDraining = true
            // What has already arrived is answered. The kernel would answer unread bytes with a reset.
            connection.isReadable = true
            if connection.phase == .streaming { connection.task?.cancel() }
            connection.resume()
        }
    }

    nonisolated func abort() {
        assumeIsolated { connection in
            connection.isBroken = true
            connection.task?.cancel()
            shutdown(connection.descriptor, Int32(SHUT_RDWR))
            connection.resume()
        }
    }

    /// Waits until the callers before this one have had their turns: its other connections may have many requests.
    func ownTurn() async {
        await withCheckedContinuation { continuation in
            turn = continuation
            loop.awaitTurn(of: self)
        }
    }
}
