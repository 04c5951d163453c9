import Foundation

/// A running process of one of the built commands.
actor Program {
    private let process = Process()
    private let input = Pipe()
    private var lines: AsyncStream<String>.AsyncIterator
    private var seen: [String] = []

    struct Failure: Error {
        var message: String
    }

    /// Starts the built product `name` and reads its standard output and error as lines. `environment` overrides the
    /// test's own.
    init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        try self.init(Self.products.appending(path: name), arguments, environment: environment)
    }

    /// Starts any program.
    init(_ executable: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = input
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        lines = stream.makeAsyncIterator()
        let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
        try Self.withDefaultSignals { try process.run() }
        Thread.detachNewThread { Self.read(descriptor, into: continuation) }
    }

    /// A process inherits the blocked signals, and the threads that tests run on block all of them. It inherits an ignored
    /// SIGINT, too, which background jobs of a shell have.
    private static func withDefaultSignals(_ run: () throws -> Void) rethrows {
        let handler = Glibc.signal(SIGINT, SIG_DFL)
        defer { Glibc.signal(SIGINT, handler) }
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }

    /// The folder of this build's products, which also holds the test bundle; `REPAIRMINDER_BIN` names another one.
    static var products: URL {
        if let folder = ProcessInfo.processInfo.environment["REPAIRMINDER_BIN"] { return URL(filePath: folder) }
        return URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    }

    var pid: Int32 { process.processIdentifier }

    /// Returns the next line that contains `text`, or simply the next line; throws when the process ends without one.
    func line(containing text: String? = nil) async throws -> String {
        var iterator = lines
        defer { lines = iterator }
        while let line = await iterator.next(isolation: self) {
            seen.append(line)
            if text.map(line.contains) ?? true { return line }
        }
        let missing = text.map { "a line with \($0)" } ?? "another line"
        throw Failure(message: "ended without \(missing):\n\(seen.joined(separator: "\n"))")
    }

    /// Waits for the process to end; returns its status and the output not yet read.
    func finish() async -> (status: Int32, output: String) {
        var printed: [String] = []
        var iterator = lines
        while let line = await iterator.next(isolation: self) { printed.append(line) }
        process.waitUntilExit()
        return (process.terminationStatus, printed.joined(separator: "\n"))
    }

    /// Writes a line to standard input.
    func type(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends standard input.
    func endInput() throws { try input.fileHandleForWriting.close() }

    func signal(_ number: Int32) {
        guard process.isRunning else { return }
        kill(process.processIdentifier, number)
    }

    /// Runs a command and waits for its end.
    static func run(_ name: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await Program(name, arguments).finish()
    }

    private static func read(_ descriptor: Int32, into continuation: AsyncStream<String>.Continuation) {
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            rest += buffer[..<count]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeSubrange(...end)
            }
        }
        if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
        close(descriptor)
        continuation.finish()
    }
}
