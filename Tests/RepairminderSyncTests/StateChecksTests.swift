import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("What doctor checks in the state directory")
struct StateChecksTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("state"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private var path: String { folder.path("state/tokens.json") }
    private var login: String { "repairminder-sync login --config \(folder.path("config.yaml"))" }

    /// What doctor says of the token; `settings`: more of the configuration.
    private func token(_ settings: String = "") throws -> Finding {
        let configuration = try folder.configuration(
            yaml: """
                schema: \(ProjectFiles.schemaFile("repairminder").path)
                state_dir: \(folder.path("state"))
                \(settings)
                """)
        let schema = try SchemaFinder(environment: folder.environment()).schema(for: configuration)
        let findings = StateChecks(configuration: configuration, schema: schema).findings()
        return try #require(findings.first { $0.check == "token" })
    }

    private func store(_ text: String, mode: Int = 0o600) throws {
        try folder.write(text, to: "state/tokens.json")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test("without a sign-in, the command that signs in is named")
    func missing() throws {
        let found = try token()
        #expect(found.level == .warning && found.message == "not signed in")
        #expect(found.advice == "run \(login), unless the upstream needs no sign-in")
    }

    @Test("a sign-in that cannot be read is replaced by another one", arguments: ["", #"{"token":"#])
    func unreadable(_ text: String) throws {
        try store(text)
        let found = try token()
        #expect(found.level == .error && found.message.hasPrefix("\(path) contains no token"))
        #expect(found.advice == "run \(login)")
    }

    @Test("a sign-in that others can read is protected, and stays")
    func open() throws {
        try store(#"{"token":"abc"}"#, mode: 0o644)
        let found = try token()
        #expect(found.level == .error && found.message.hasPrefix("\(path) can be read by others"))
        #expect(found.advice == "run chmod 600 \(path)")
    }

    @Test("what is no file is removed before the sign-in")
    func folderInItsPlace() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let found = try token()
        #expect(found.level == .error && found.message.hasPrefix("\(path) is not a regular file"))
        #expect(found.advice == "run rm -r \(path), then \(login)")
    }

    @Test("a token file of the configuration is corrected, not replaced by a sign-in")
    func tokenFile() throws {
        let found = try token("upstream: { token_file: \(folder.path("none")) }")
        #expect(found.level == .error && found.message.contains(folder.path("none")))
        #expect(found.advice == "correct that file, or set upstream.token_file to another one")
    }

    @Test(
        "the command that signs in is that of the package, of an instance, or of the program",
        arguments: [
            (nil, "repairminder-sync login"), ("/etc/sync/config.yaml", "sudo repairminder-sync login"),
            ("/etc/sync/propdocs.yaml", "sudo repairminder-sync login --config /etc/sync/propdocs.yaml"),
            ("/home/ada/config.yaml", "repairminder-sync login --config /home/ada/config.yaml"),
        ] as [(String?, String)])
    func command(file: String?, command: String) throws {
        var configuration = try folder.configuration()
        configuration.file = file
        #expect(configuration.loginCommand(systemFolder: "/etc/sync") == command)
    }
}
