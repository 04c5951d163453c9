import EntitySchema
import Glibc
import Logging
import Synchronization

/// Where the daemon's log goes. A reader that has stopped, such as a stalled journal or a paused terminal, does not
/// stop the daemon: once a line has waited for it too long, lines are dropped until it reads again, and then the log
/// says how many.
final class LogOutput: Sendable {
    private struct State {
        var lost = 0
        /// The last line was cut off.
        var isCut = false
    }

    private let stream: StandardStream
    private let now: @Sendable () -> Timestamp
    private let state = Mutex(State())

    /// How long a line waits, in milliseconds: far less than a service manager waits for a sign of life.
    private static let patience: Int32 = 1000
    /// A pipe that takes anything takes as many bytes at once (`PIPE_BUF`, pipe(7)).
    private static let pieceSize = 4096

    init(_ stream: StandardStream, now: @escaping @Sendable () -> Timestamp) {
        self.stream = stream
        self.now = now
    }

    /// Writes one complete line. Call it from any thread.
    func write(_ line: String) {
        state.withLock { state in
            var text = line
            if state.lost > 0 {
                guard takesMore(within: 0) else {
                    state.lost += 1
                    return
                }
                text = (state.isCut ? "\n" : "") + note(of: state.lost, before: line) + "\n" + line
            }
            let bytes = Array(TerminalText.safe(text).utf8)
            let written = count(ofWritten: bytes)
            state = written < bytes.count ? State(lost: state.lost + 1, isCut: written > 0) : State()
        }
    }

    /// Says in the format of `line` how many are missing.
    private func note(of lost: Int, before line: String) -> String {
        let note = LogLine(
            time: now(), level: .warning, label: "log",
            message: "lines are missing, because the log was not read", metadata: ["lines": "\(lost)"])
        return switch line.first {
        case "{": note.json
        case "<": note.journalText
        default: note.text
        }
    }

    /// Fewer if the reader has stopped. Where writing fails, as to a closed pipe, nothing is left to write.
    private func count(ofWritten bytes: [UInt8]) -> Int {
        var rest = bytes[...]
        while !rest.isEmpty, takesMore(within: Self.patience) {
            rest = stream.writeAll(Array(rest.prefix(Self.pieceSize))) == nil ? rest.dropFirst(Self.pieceSize) : []
        }
        return bytes.count - rest.count
    }

    /// Also true where writing fails at once.
    private func takesMore(within milliseconds: Int32) -> Bool {
        var event = pollfd(fd: stream.descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&event, 1, milliseconds) != 0
    }
}
