import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct StandbyChecksTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func findings(_ yaml: String) async throws -> [Finding] {
        await StandbyChecks(configuration: try folder.configuration(yaml: yaml)).findings()
    }

    @Test("a daemon that stands alone has no finding")
    func alone() async throws {
        #expect(try await findings("sync: { interval: 1m }").isEmpty)
    }

    @Test("standby.sync without the addresses of etcd is a warning")
    func withoutEtcd() async throws {
        let found = try await findings("standby: { sync: true }")
        #expect(found.count == 1 && found.first?.text.contains("standby.etcd") == true)
    }

    @Test("a cluster of which no member answers is an error that says why")
    func unreachable() async throws {
        let found = try await findings("standby: { etcd: 'http://127.0.0.1:1', ttl: 3s }")
        #expect(found.count == 1 && found.first?.level == .error)
        #expect(found.first?.text.contains("127.0.0.1:1") == true)
    }

    @Test("a password file that others can read is an error")
    func password() async throws {
        let path = folder.path("password")
        try "a long password\n".write(toFile: path, atomically: true, encoding: .utf8)
        // Other tests may have changed the umask of this process.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let found = try await findings(
            "standby: { etcd: 'http://127.0.0.1:1', user: sync, password_file: '\(path)', ttl: 3s }")
        #expect(found.first?.level == .error && found.first?.text.contains(path) == true)
        #expect(found.first?.text.contains("TokenFileError") == false)
    }
}
