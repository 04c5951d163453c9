import Foundation
import Glibc
import TestSupport
import Testing

/// Who decides what a path leads to would decide whose rights root's commands take.
@Suite(
    "A state directory in whose place others can put another", .serialized,
    .enabled(if: getuid() == 0, "only root can act as two users"))
struct ReplacedStateTests {
    private static let owner: uid_t = 54_321
    private static let other: uid_t = 54_323

    private let temporary: TemporaryFolder
    private let config: String
    private var state: String { temporary.path("shop/state") }

    init() throws {
        temporary = try TemporaryFolder()
        try Self.make(temporary.path, 0o755)
        try Self.make(temporary.path("shop"), 0o755, Self.owner)
        let schema = try temporary.write(
            """
            schema: home
            upstream: { base_url: "http://127.0.0.1:1" }
            entities:
              tasks:
                fields: { id: { type: string } }
                pull: { path: /tasks }
            """, to: "home.yaml")
        config = try temporary.write(
            "schema: \(schema)\nstate_dir: \(temporary.path("shop/state"))\nlisten: { tcp: '127.0.0.1:1' }\n",
            to: "c.yaml")
    }

    private static func make(_ folder: String, _ mode: mode_t, _ user: uid_t = 0) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(chmod(folder, mode) == 0 && chown(folder, user, user) == 0)
    }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await Program.run("repairminder-sync", arguments + ["--config", config])
    }

    @Test(
        "root's commands do not become another user, nor stay root, where a link of the daemon's user leads",
        arguments: [other, 0])
    func link(to user: uid_t) async throws {
        let target = temporary.path("target")
        try Self.make(target, 0o700, user)
        try #require(symlink(target, state) == 0)
        for command in [["queue", "import", config], ["import-mirror", temporary.path], ["database", "set-aside"]] {
            let (status, output) = try await Program.run("repairminder-sync", command + ["--config", config])
            #expect(status == 78)
            #expect(output.contains("could put another directory at state_dir \(state)"), "\(output)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
    }

    @Test("nor do they make a missing one below a directory of another user, or where every user could make it")
    func missing() async throws {
        let (status, output) = try await run("import-mirror", temporary.path)
        #expect(status == 78 && output.contains("uid 54321 could put"), "\(output)")
        try Self.make(temporary.path("shop"), 0o1777)
        let open = try await run("import-mirror", temporary.path)
        #expect(open.status == 78 && open.output.contains("every user could put"), "\(open.output)")
        #expect(access(state, F_OK) != 0)
    }

    @Test("below a directory of its owner it can be used, also by a link of root and in a folder like /tmp")
    func own() async throws {
        try Self.make(state, 0o700, Self.owner)
        #expect(try await run("check-config").status == 0)
        try Self.make(temporary.path("shop"), 0o1777)
        #expect(try await run("check-config").status == 0)
        try #require(rename(state, temporary.path("elsewhere")) == 0)
        try #require(symlink(temporary.path("elsewhere"), state) == 0)
        #expect(try await run("check-config").status == 0)
    }
}
