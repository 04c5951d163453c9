import Foundation
import TestSupport

/// `repairminder-sync demo` on ports that the system chooses.
struct Demo {
    /// Without `http://`.
    let api: String
    let upstream: String
    /// What it prints to try.
    let commands: [String]
    private let program: Program

    /// Runs while `body` does.
    static func run(schema: String = "repairminder", _ body: (Demo) async throws -> Void) async throws {
        let demo = try await Demo(schema)
        let result: Result<Void, any Error>
        do { result = .success(try await body(demo)) } catch { result = .failure(error) }
        await demo.program.signal(SIGTERM)
        _ = await demo.program.finish()
        try result.get()
    }

    private init(_ schema: String) async throws {
        program = try Program("repairminder-sync", ["demo", "--port", "0", "--schema", schema])
        let line = try await program.line(containing: "The local API is at ")
        guard let match = line.firstMatch(of: /is at (\S+), its upstream at (\S+)\./) else {
            throw Program.Failure(message: "no addresses in \(line)")
        }
        api = String(match.1)
        upstream = String(match.2)
        var commands: [String] = []
        while true {
            let line = try await program.line()
            if line.hasPrefix("Ctrl-C") { break }
            if line.hasPrefix("  ") { commands.append(line.trimmingCharacters(in: .whitespaces)) }
        }
        self.commands = commands
    }

    /// What a command prints in bash, errors included.
    func output(of command: String) async throws -> String {
        try await Program(URL(filePath: "/usr/bin/timeout"), ["60", "bash", "-c", command]).finish().output
    }
}
