import Foundation
import JSONText
import Upstream

/// The built daemon with a schema of chores, in its own folder; its upstream is unreachable. It can be killed and
/// started again on the same files.
actor ChoresDaemon {
    nonisolated let folder: URL
    private var program: Program
    private let transport: CurlTransport

    /// `settings` is added to the configuration; `FOLDER` in it is replaced with the daemon's folder.
    private init(settings: String) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "home-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let config = """
            schema: FOLDER/home.yaml
            state_dir: FOLDER/state
            listen: { tcp: off, unix: FOLDER/api.sock }
            log: { level: debug }
            \(settings)
            """.replacing("FOLDER", with: folder.path)
        try config.write(to: folder.appending(path: "config.yaml"), atomically: true, encoding: .utf8)
        try Self.schema.write(to: folder.appending(path: "home.yaml"), atomically: true, encoding: .utf8)
        transport = try CurlTransport(userAgent: "test", unixSocketPath: "\(folder.path)/api.sock")
        program = try await Self.started(folder)
    }

    private static func started(_ folder: URL) async throws -> Program {
        let program = try Program("repairminder-sync", ["run", "--config", "\(folder.path)/config.yaml"])
        _ = try await program.line(containing: "api.sock")
        return program
    }

    /// Runs one while `body` does its work, and ends it even if that fails.
    static func running(_ settings: String, _ body: (ChoresDaemon) async throws -> Void) async throws {
        let daemon = try await ChoresDaemon(settings: settings)
        let result: Result<Void, any Error>
        do { result = .success(try await body(daemon)) } catch { result = .failure(error) }
        await daemon.end()
        try result.get()
    }

    /// Writes a script that the daemon can run.
    nonisolated func script(_ name: String, _ text: String) throws {
        let file = folder.appending(path: name)
        try "#!/bin/sh\n\(text)\n".write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
    }

    func start() async throws { program = try await Self.started(folder) }

    /// Kills it without warning.
    func kill() async {
        await program.signal(SIGKILL)
        _ = await program.finish()
    }

    /// Stops it as systemd does.
    func stop() async {
        await program.signal(SIGTERM)
        _ = await program.finish()
    }

    private func end() async {
        await kill()
        try? FileManager.default.removeItem(at: folder)
    }

    func line(containing text: String) async throws { _ = try await program.line(containing: text) }

    func command(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await Program.run("repairminder-sync", arguments + ["--config", "\(folder.path)/config.yaml"])
    }

    func call(_ method: String, _ path: String, _ body: JSONText? = nil) async throws -> (status: Int, body: JSONText) {
        let response = try await transport.send(
            HTTPRequest(
                method: method, url: "http://localhost\(path)",
                headers: body == nil ? [] : [HTTPHeader("Content-Type", "application/json")],
                body: body.map { Array($0.bytes) }, deadline: .seconds(60)))
        return (response.status, response.body.isEmpty ? .null : try JSONText(response.body))
    }

    /// Returns the reminder once it has reached a state.
    func reminder(becomes state: String) async throws -> JSONText {
        try await waitForReminder(becomes: state) { try await call("GET", $0).body }
    }

    private static let schema = """
        schema: home
        upstream: { base_url: "http://127.0.0.1:1" }
        reminders: { chore: { of: chores, at: at, text: "{title}", unless: { done: true } } }
        entities:
          tasks:
            fields: { id: { type: string }, title: { type: string }, pin: { type: string, secret: true } }
            pull: { path: /tasks }
            push: { create: { call: POST /tasks } }
          chores:
            local: true
            fields:
              id: { type: string }
              title: { type: string }
              at: { type: time }
              done: { type: boolean }
              pin: { type: string, secret: true }
        """
}
