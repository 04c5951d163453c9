import Dispatch
import Glibc

/// Prompts at the terminal; without a terminal, reads answers line by line, so a script can supply them.
struct Questions {
    /// The byte that Ctrl-C sends.
    private static let interrupt: UInt8 = 3

    /// Reads one trimmed line. `secret` turns the echo off. Throws when there is no answer.
    func answer(to question: String, secret: Bool) throws(CommandFailure) -> String {
        let isTerminal = isatty(STDIN_FILENO) == 1
        StandardStream.error.write("\(question): \(isTerminal ? "" : "\n")")
        let line = isTerminal && secret ? try hidden() : readLine()
        guard let line, line.last != Self.interrupt else {
            throw CommandFailure(.usage, "no answer to “\(question)”; nothing was changed")
        }
        let answer = Self.trimmed(line)
        guard !answer.isEmpty else {
            throw CommandFailure(.usage, "the answer to “\(question)” is empty; nothing was changed")
        }
        return answer
    }

    /// Shows the likely answer and others, and reads one line: empty for the likely answer, nil at the end of the input.
    func answer(to question: String, likely: String?, others: [String]) -> String? {
        let more = others.filter { $0 != likely }
        if !more.isEmpty { StandardStream.error.write("  others: \(more.joined(separator: ", "))\n") }
        StandardStream.error.write("\(question)\(likely.map { " [\($0)]" } ?? ""): ")
        guard let line = readLine(), line.last != Self.interrupt else {
            StandardStream.error.write("\n")
            return nil
        }
        return Self.trimmed(line)
    }

    private static func trimmed(_ line: [UInt8]) -> String {
        let text = String(decoding: line, as: UTF8.self)
        return String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// Reads a line with the echo off.
    ///
    /// Ctrl-C ends the line instead of the program, so the echo is always turned on again. A signal that ends the
    /// program turns it on first.
    private func hidden() throws(CommandFailure) -> [UInt8]? {
        var usual = termios()
        guard tcgetattr(STDIN_FILENO, &usual) == 0 else {
            throw CommandFailure(.internalError, "cannot turn off the terminal's echo")
        }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VEOL)] = Self.interrupt }
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { Self.restore(usual, at: signal) }
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else {
            throw CommandFailure(.internalError, "cannot turn off the terminal's echo")
        }
        let line = readLine()
        _ = tcsetattr(STDIN_FILENO, TCSANOW, &usual)
        StandardStream.error.write("\n")
        return line
    }

    /// From here on, gives the terminal these settings before the signal ends this process.
    private static func restore(_ settings: termios, at signal: Int32) {
        let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
        // The handler holds the source, which is for as long as this process lives.
        source.setEventHandler { [source] in
            var settings = settings
            _ = tcsetattr(STDIN_FILENO, TCSANOW, &settings)
            withExtendedLifetime(source) { _exit(128 + signal) }
        }
        source.activate()
    }

    /// Nil at the end of the input. Reads no byte beyond the line.
    private func readLine() -> [UInt8]? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return line.isEmpty ? nil : line }
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
            if byte == Self.interrupt { return line }
        }
    }
}
