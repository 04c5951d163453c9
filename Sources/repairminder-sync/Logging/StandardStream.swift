import Glibc
import SystemCalls

/// Standard output, standard error or another open file, unbuffered.
struct StandardStream: Sendable {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Opens something in place of closed standard streams, so that no other file gets their numbers, and with them what is
    /// written to the streams. Reading and writing go on failing.
    static func holdClosed() {
        // Each time the lowest free number is taken.
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes the text in one call, so lines of several threads do not mix; ignores errors.
    func write(_ text: String) { _ = writeAll(text) }

    /// Nil when the whole text was written, otherwise the reason of the failure.
    ///
    /// What a terminal would obey is escaped. Standard error often ends up in a terminal later, so there it is always.
    func writeAll(_ text: String) -> String? {
        writeAll(Array((descriptor == STDERR_FILENO || isTerminal ? TerminalText.safe(text) : text).utf8))
    }

    /// The same for bytes, which are written as they are; for a file or a pipe alone.
    func writeAll(_ bytes: [UInt8]) -> String? {
        Files.write(bytes, to: descriptor) ? nil : SystemError.last.description
    }

    /// Writes a screen that controls the terminal. Every part from elsewhere must be a `TerminalText.line`.
    func draw(_ screen: String) { _ = writeAll(Array(screen.utf8)) }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The terminal's width in columns; nil when this is not a terminal, or one that does not report it.
    var width: Int? { size?.columns }

    /// The terminal's size; nil when this is not a terminal, or one that does not report it.
    var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether this stream goes to systemd's journal: `JOURNAL_STREAM` has its device and inode (systemd.exec(5)).
    func isJournal(environment: [String: String]) -> Bool {
        guard let named = environment["JOURNAL_STREAM"], let file = stat(of: descriptor) else { return false }
        return named == "\(file.st_dev):\(file.st_ino)"
    }
}
