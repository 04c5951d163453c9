import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Variables that libraries obey")
struct KeyLogTests {
    @Test("libcurl writes no keys into the file that a variable names")
    func variable() async throws {
        let folder = try TemporaryFolder()
        // Nothing listens there: libcurl would make the file before it connects.
        let program = try Program(
            "repairminder-sync", ["init", "--from", "https://127.0.0.1:1/api.json", "--dry-run"],
            environment: ["SSLKEYLOGFILE": folder.path("keys")])
        let (status, output) = await program.finish()
        #expect(status != 0 && output.contains("127.0.0.1:1"), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("keys")))
    }

    @Test(
        "root has libraries obey no configuration that another user could change, since it can name modules to run",
        .enabled(if: getuid() == 0, "only root can act as two users"),
        arguments: ["OPENSSL_CONF", "KRB5_CONFIG", "GSS_MECH_CONFIG", "PGSSLKEY", "PGSERVICEFILE", "PGSYSCONFDIR"])
    func modules(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "library.conf")
        try #require(chown(file, 7, 7) == 0)
        let program = try Program(
            "repairminder-sync", ["init", "--from", "https://127.0.0.1:1/api.json", "--dry-run"],
            environment: [name: file])
        let (status, output) = await program.finish()
        #expect(status != 0 && output.contains("warning: \(name) is not obeyed"), "\(output)")
    }

    @Test(
        "a crash of root's command runs no program that a variable names",
        .enabled(if: getuid() == 0, "only root can have the variable from another user"),
        arguments: ["SWIFT_BACKTRACE", "SWIFT_ROOT"])
    func crash(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let (pipe, mark) = (folder.path("pipe"), folder.path("mark"))
        let named = try folder.write(
            "#!/bin/sh\ntouch '\(mark)'\n", to: "libexec/swift/linux/swift-backtrace")
        let value = name == "SWIFT_ROOT" ? folder.path : "enable=yes,swift-backtrace=\(named)"
        try #require(chmod(named, 0o755) == 0 && mkfifo(pipe, 0o600) == 0)
        let program = try Program(
            "repairminder-sync", ["init", "--from", pipe, "--dry-run"],
            environment: [name: value])
        // The pipe has no reader until the command reads it.
        var writer: Int32 = -1
        for _ in 0..<1000 where writer < 0 {
            writer = open(pipe, O_WRONLY | O_NONBLOCK)
            if writer < 0 { try await Task.sleep(for: .milliseconds(10)) }
        }
        try #require(writer >= 0)
        defer { close(writer) }
        await program.signal(SIGSEGV)
        _ = await program.finish()
        #expect(!FileManager.default.fileExists(atPath: mark))
    }
}
