import Glibc

/// What a program writes, line by line, up to a limit, because it may write without end.
struct ProgramOutput {
    /// The end of a pipe that does not block.
    private let descriptor: Int32
    private let report: @Sendable (_ line: String) -> Void
    private var line: [UInt8] = []
    private var reported = 0

    /// The lines after these are left out.
    static let mostLines = 100
    private static let longestLine = 1000
    /// How late the program's end may be seen while something else holds its output open, in milliseconds.
    private static let patience: Int32 = 100
    private static let pieceSize = 16 << 10
    /// No pipe of an ordinary user holds more (pipe(7)).
    private static let mostPieces = 64

    init(_ descriptor: Int32, report: @escaping @Sendable (_ line: String) -> Void) {
        self.descriptor = descriptor
        self.report = report
    }

    /// Returns at the end of the output or of the program, after which others may hold the output open.
    mutating func read(until hasEnded: () -> Bool) {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while !hasEnded() {
            guard poll(&event, 1, Self.patience) > 0 else { continue }
            if take() == 0 { return }
        }
    }

    /// Takes what is left in the pipe, and closes it.
    mutating func finish() {
        var pieces = 0
        while pieces < Self.mostPieces, take() > 0 { pieces += 1 }
        endLine()
        close(descriptor)
    }

    /// Returns the number of bytes: 0 at the end, negative if there are none now.
    private mutating func take() -> Int {
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        let count = Glibc.read(descriptor, &piece, piece.count)
        guard count > 0 else { return count }
        for byte in piece[..<count] {
            if byte == UInt8(ascii: "\n") {
                endLine()
            } else if line.count < Self.longestLine {
                line.append(byte)
            }
        }
        return count
    }

    private mutating func endLine() {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty, reported <= Self.mostLines else { return }
        report(reported < Self.mostLines ? String(decoding: line, as: UTF8.self) : "… (more is left out)")
        reported += 1
    }
}
