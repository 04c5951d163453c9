import Foundation
import TestSupport

/// `make demo` with the commands under test, on ports that the system chooses.
struct Demo {
    /// Without `http://`.
    let api: String
    let upstream: String
    private let program: Program

    /// Runs while `body` does.
    static func run(_ body: (Demo) async throws -> Void) async throws {
        let demo = try await Demo()
        let result: Result<Void, any Error>
        do { result = .success(try await body(demo)) } catch { result = .failure(error) }
        await demo.program.signal(SIGTERM)
        _ = await demo.program.finish()
        try result.get()
    }

    private init() async throws {
        program = try Program(
            ProjectFiles.root.appending(path: "scripts/demo"), ["--port", "0"],
            environment: ["REPAIRMINDER_BIN": Program.products.absoluteURL.path])
        let line = try await program.line(containing: "The local API is at ")
        guard let match = line.firstMatch(of: /is at (\S+), its upstream at (\S+)\./) else {
            throw Program.Failure(message: "no addresses in \(line)")
        }
        api = String(match.1)
        upstream = String(match.2)
    }
}
