import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Variables that OpenSSL obeys")
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
        "root has OpenSSL obey no configuration that another user could change, since it can name modules to run",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func modules() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "openssl.cnf")
        try #require(chown(file, 7, 7) == 0)
        let program = try Program(
            "repairminder-sync", ["init", "--from", "https://127.0.0.1:1/api.json", "--dry-run"],
            environment: ["OPENSSL_CONF": file])
        let (status, output) = await program.finish()
        #expect(status != 0 && output.contains("warning: OPENSSL_CONF is not obeyed"), "\(output)")
    }
}
