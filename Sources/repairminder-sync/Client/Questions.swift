import Glibc

/// Asks the person at the terminal; takes the lines of a pipe as answers, too, so that a script can answer.
struct Questions {
    /// What a Ctrl-C sends.
    private static let interrupt: UInt8 = 3

    /// One line, without blanks around it. `secret` does not show what is typed. Throws when there is no answer.
    func answer(to question: String, secret: Bool) throws(CommandFailure) -> String {
        let isTerminal = isatty(STDIN_FILENO) == 1
        StandardStream.error.write("\(question): \(isTerminal ? "" : "\n")")
        let line = isTerminal && secret ? try hidden() : readLine()
        guard let line, line.last != Self.interrupt else {
            throw CommandFailure(.usage, "there was no answer to “\(question)”; nothing is changed")
        }
        let text = String(decoding: line, as: UTF8.self)
        let answer = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        guard !answer.isEmpty else {
            throw CommandFailure(.usage, "the answer to “\(question)” is empty; nothing is changed")
        }
        return answer
    }

    /// A line that the terminal does not show.
    ///
    /// Ctrl-C ends the line instead of the program, so that the terminal never stays silent after it.
    private func hidden() throws(CommandFailure) -> [UInt8]? {
        var usual = termios()
        guard tcgetattr(STDIN_FILENO, &usual) == 0 else {
            throw CommandFailure(.internalError, "the terminal cannot be told to hide what is typed")
        }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VEOL)] = Self.interrupt }
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else {
            throw CommandFailure(.internalError, "the terminal cannot be told to hide what is typed")
        }
        let line = readLine()
        _ = tcsetattr(STDIN_FILENO, TCSANOW, &usual)
        StandardStream.error.write("\n")
        return line
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
