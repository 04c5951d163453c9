import CLinux
import Glibc
import Testing

@testable import repairminder_sync

@Suite("The daemon's log")
struct LogOutputTests {
    /// A pipe, whose two ends are closed with it.
    private final class Pipe {
        let reader: Int32
        let writer: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(clinux_pipe2(&ends, O_CLOEXEC) == 0)
            (reader, writer) = (ends[0], ends[1])
        }

        deinit {
            close(reader)
            close(writer)
        }

        /// Everything that it holds.
        func contents() -> String {
            _ = fcntl(reader, F_SETFL, O_NONBLOCK)
            var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
            while true {
                let count = read(reader, &piece, piece.count)
                guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
                bytes += piece[..<count]
            }
        }
    }

    private static let long = String(repeating: "x", count: 100_000)

    @Test("lines go to the log as they are, also those of more than a page")
    func lines() throws {
        let pipe = try Pipe()
        let output = LogOutput(StandardStream(descriptor: pipe.writer), now: StateFiles.now)
        let long = String(repeating: "y", count: 10_000)
        output.write("one\n")
        output.write("\(long)\n")
        #expect(pipe.contents() == "one\n\(long)\n")
    }

    @Test(
        "a log that nothing reads keeps no line waiting for good, and says how many are missing when it is read again",
        arguments: [
            ("next", "warning log: lines are missing, because the log was not read lines=2\nnext"),
            ("<6>next", "<4>log: lines are missing, because the log was not read lines=2\n<6>next"),
        ])
    func unread(_ next: String, _ end: String) throws {
        let pipe = try Pipe()
        let output = LogOutput(StandardStream(descriptor: pipe.writer), now: StateFiles.now)
        // More than a pipe holds: the rest of it is lost, and so is the next line.
        output.write("\(Self.long)\n")
        output.write("lost\n")
        #expect(pipe.contents().allSatisfy { $0 == "x" })
        output.write("\(next)\n")
        let text = pipe.contents()
        #expect(text.first == "\n" && text.hasSuffix("\(end)\n"), "\(text)")
    }
}
