import Foundation
import Glibc
import SQLiteStore
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

    private func token(_ settings: String = "") throws -> Finding {
        try #require(try findings(settings).first { $0.check == "token" })
    }

    /// What doctor says; `settings`: more of the configuration.
    private func findings(
        _ settings: String = "", state: String? = nil, space: DiskSpace? = nil
    ) throws -> [Finding] {
        let configuration = try folder.configuration(
            yaml: """
                schema: \(ProjectFiles.schemaFile("repairminder").path)
                state_dir: \(state ?? folder.path("state"))
                \(settings)
                """)
        let schema = try SchemaFinder(environment: folder.environment()).schema(for: configuration)
        var checks = StateChecks(configuration: configuration, schema: schema)
        if let space { checks.space = { _ in space } }
        return checks.findings()
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
        #expect(found.advice == closing)
    }

    @Test("a key that is missing beside a database is not one that the next start may make")
    func missingKey() throws {
        func key() throws -> Finding { try #require(try findings().first { $0.check == "secret key" }) }
        #expect(try key().message == "not created yet")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("state/current.db"), withDestinationPath: "repairminder-1.db")
        #expect(try key().message.hasPrefix("missing") && key().advice?.contains("copy") == true)
    }

    private var closing: String { "stop the daemon, then run chmod -R go= \(folder.path("state"))/" }

    @Test("no name of a file becomes part of a command, which root may run")
    func hostileName() throws {
        try store(#"{"token":"abc"}"#)
        let name = "state/a;touch $HOME..pwned #"
        try folder.write("", to: name)
        try #require(chmod(folder.path(name), 0o666) == 0)
        let found = try findings()
        let permissions = try #require(found.first { $0.check == "permissions" })
        #expect(permissions.level == .error && permissions.message.contains("a;touch $HOME..pwned #"))
        #expect(permissions.advice == closing)
        for finding in found { #expect(finding.advice?.contains(";") != true, "\(finding.text)") }
    }

    @Test("no command is proposed for a directory that state_dir names by mistake, which it would close to its users")
    func notOfDaemon() throws {
        try folder.write("", to: "state/report.txt")
        try #require(chmod(folder.path("state"), 0o755) == 0)
        let found = try findings().filter { $0.check == "permissions" }
        #expect(found.map(\.level) == [.error])
        #expect(found.first?.advice == "set state_dir to the daemon's directory, or to one that does not exist yet")
        try store(#"{"token":"abc"}"#)
        #expect(try findings().first { $0.check == "permissions" }?.advice == closing)
    }

    @Test(
        "files of holes, as large as a file can be, do not end doctor, and its disk is too small for them",
        .enabled(if: access("/dev/shm", W_OK) == 0, "needs a file system that has files of any size"))
    func holes() throws {
        let state = "/dev/shm/repairminder-test-\(UUID().uuidString)"
        try #require(mkdir(state, 0o700) == 0)
        defer { try? FileManager.default.removeItem(atPath: state) }
        for name in ["a.db", "b.db"] {
            try #require(FileManager.default.createFile(atPath: "\(state)/\(name)", contents: nil))
            try #require(truncate("\(state)/\(name)", Int.max / 4096 * 4096) == 0)
        }
        let disk = try #require(try findings(state: state).first { $0.check == "disk" })
        #expect(disk.level != .ok && disk.advice?.hasPrefix("free some space") == true)
    }

    @Test("a file system that is mounted read-only is an error, however much space is free")
    func readOnly() throws {
        let found = try findings(space: DiskSpace(free: 1 << 40, total: 1 << 40, isReadOnly: true))
        let disk = try #require(found.first { $0.check == "disk" })
        #expect(disk.level == .error && disk.message.contains("mounted read-only"))
        #expect(disk.advice == "look for a disk fault (dmesg), then mount it for writing")
        let writable = try findings(space: DiskSpace(free: 1 << 40, total: 1 << 40))
        #expect(writable.first { $0.check == "disk" }?.level == .ok)
    }

    @Test("files of another user are given back without following links", .enabled(if: getuid() == 0, "needs root"))
    func foreign() throws {
        try store(#"{"token":"abc"}"#)
        try #require(chown(folder.path("state"), 54_321, 54_321) == 0)
        let state = folder.path("state/")
        let found = try #require(try findings().first { $0.check == "permissions" })
        #expect(found.advice == "run chown -Rh --reference=\(state) \(state)")
    }

    @Test("a link in place of the sign-in is not followed, and only the link is removed")
    func link() throws {
        try folder.write(#"{"token":"abc"}"#, to: "other.json")
        try #require(symlink(folder.path("other.json"), path) == 0)
        let found = try token()
        #expect(found.level == .error && found.message == "\(path) is a link; delete it, and sign in again")
        #expect(found.advice == "run rm -r \(path), then \(login)")
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
            ("/home/ada/my shop.yaml", "repairminder-sync login --config '/home/ada/my shop.yaml'"),
        ] as [(String?, String)])
    func command(file: String?, command: String) throws {
        var configuration = try folder.configuration()
        configuration.file = file
        #expect(configuration.loginCommand(systemFolder: "/etc/sync") == command)
    }
}
