import Foundation
import Glibc
import TestSupport
import Testing

/// Commands that root runs on the state directory of another user, who may have prepared it.
@Suite("A state directory of another user", .serialized, .enabled(if: getuid() == 0, "only root can act as two users"))
struct ForeignStateTests {
    private static let owner: uid_t = 54_321

    private let temporary: TemporaryFolder
    private let config: String
    private var state: String { temporary.path("state") }
    private var mirror: String { temporary.path("mirror") }

    init() throws {
        temporary = try TemporaryFolder()
        try Self.make(temporary.path, 0o755)
        try Self.make(temporary.path("state"), 0o700, Self.owner)
        config = try temporary.makeHome(state: temporary.path("state"))
    }

    private static func make(_ folder: String, _ mode: mode_t, _ user: uid_t = 0) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(chmod(folder, mode) == 0 && chown(folder, user, user) == 0)
    }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await Program.run("repairminder-sync", arguments + ["--config", config])
    }

    private func owners(in folder: String) throws -> Set<uid_t> {
        Set(
            try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
                var status = stat()
                try #require(lstat("\(folder)/\(name)", &status) == 0)
                return status.st_uid
            })
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test("everything that root's commands write belongs to the directory's owner")
    func ownership() async throws {
        let imported = try await run("import-mirror", mirror)
        #expect(imported.status == 0, "\(imported.output)")
        #expect(imported.output.contains("imported 1 record"))
        #expect(try owners(in: state) == [Self.owner])
        #expect(try await run("check-config").status == 0)
        #expect(try await run("doctor").output.contains("passes the integrity check"))
        #expect(try owners(in: state) == [Self.owner])
    }

    @Test(
        "a command that has become the owner can start no other program, which the owner could take over, and has an end"
    )
    func programs() async throws {
        // So many that it runs for a while as the owner.
        let records = (1...50_000).map { #"{"id": "t\#($0)", "title": "sweep"}"# }
        try temporary.write("[\(records.joined(separator: ",\n"))]", to: "mirror/tasks.json")
        let program = try Program("repairminder-sync", ["import-mirror", mirror, "--config", config])
        let path = "/proc/\(await program.pid)/status"
        let limit = ContinuousClock.now + .seconds(20)
        func isConfined(_ status: String) -> Bool {
            ["Uid:\t\(Self.owner)\t", "Seccomp:\t2\n", "NoNewPrivs:\t1\n"].allSatisfy { status.contains("\n\($0)") }
        }
        var status = ""
        while ContinuousClock.now < limit, !isConfined(status),
            let now = try? String(contentsOfFile: path, encoding: .utf8)
        {
            status = now
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(isConfined(status), "\(status)")
        let limits = try String(contentsOfFile: "/proc/\(await program.pid)/limits", encoding: .utf8)
        #expect(limits.firstMatch(of: /Max cpu time +3600 +3600\b/) != nil, "\(limits)")
        await program.signal(SIGTERM)
        _ = await program.finish()
    }

    @Test("of root's group nothing is left, also where the directory has it")
    func rootsGroup() async throws {
        _ = try await run("import-mirror", mirror)
        try Self.make(temporary.path("root"), 0o700)
        let file = temporary.path("root/copy.db")
        try #require(try await run("backup", file).status == 0)
        // As `chown USER DIRECTORY` leaves it.
        try #require(
            chown(state, Self.owner, 0) == 0 && chmod(temporary.path("root"), 0o755) == 0 && chmod(file, 0o640) == 0)
        try #require(symlink(file, "\(state)/copy.db") == 0)
        let (status, output) = try await run("restore", "\(state)/copy.db")
        #expect(status == 65 && output.contains("cannot be read"), "\(output)")
    }

    @Test("what is written to a closed standard output is in no file")
    func closedOutput() async throws {
        _ = try await run("import-mirror", mirror)
        try Self.make(temporary.path("root"), 0o700)
        let file = temporary.path("root/queue.ndjson")
        let words = ["-c", #"exec "$0" "$@" >&-"#, Self.program, "queue", "export", file, "--config", config]
        _ = try await Program(URL(filePath: "/bin/sh"), words).finish()
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("exported"))
    }

    @Test("a link in place of the lock is not followed")
    func lock() async throws {
        let target = temporary.path("created-by-root")
        try #require(symlink(target, "\(state)/lock") == 0)
        let (status, output) = try await run("import-mirror", mirror)
        #expect(status == 75)
        #expect(output.contains("lock is a link"), "\(output)")
        #expect(!exists(target))
    }

    @Test("a link in place of the database leads to nothing that only root may read or write")
    func database() async throws {
        try Self.make(temporary.path("secret"), 0o700)
        try #require(symlink("\(temporary.path)/secret/created.db", "\(state)/home-new.db") == 0)
        #expect(try await run("import-mirror", mirror).status != 0)
        #expect(!exists(temporary.path("secret/created.db")))
    }

    @Test("root's backup goes to a folder of root, and can be restored from there")
    func backup() async throws {
        _ = try await run("import-mirror", mirror)
        try Self.make(temporary.path("root"), 0o700)
        let file = temporary.path("root/copy.db")
        let (status, output) = try await run("backup", file)
        #expect(status == 0, "\(output)")
        #expect(try owners(in: temporary.path("root")) == [0])
        #expect(try await run("backup", file).output.contains("already exists"))
        let restored = try await run("restore", file)
        #expect(restored.status == 0, "\(restored.output)")
        #expect(try owners(in: state) == [Self.owner])
        let names = try FileManager.default.contentsOfDirectory(atPath: state)
        #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(names)")
    }

    @Test("a backup does not follow a link that the owner made on its way, and restore does not read through one")
    func linkedTarget() async throws {
        _ = try await run("import-mirror", mirror)
        try Self.make(temporary.path("root"), 0o700)
        try #require(symlink(temporary.path("root"), "\(state)/out") == 0)
        #expect(try await run("backup", "\(state)/out/copy.db").status != 0)
        #expect(!exists(temporary.path("root/copy.db")))
        try #require(try await run("backup", temporary.path("root/copy.db")).status == 0)
        let (status, output) = try await run("restore", "\(state)/out/copy.db")
        #expect(status != 0, "\(output)")
    }

    @Test("root's export of the queue goes to a folder of root, and can be imported from there")
    func queue() async throws {
        _ = try await run("import-mirror", mirror)
        try Self.make(temporary.path("root"), 0o700)
        let file = temporary.path("root/queue.ndjson")
        let (status, output) = try await run("queue", "export", file)
        #expect(status == 0, "\(output)")
        #expect(try owners(in: temporary.path("root")) == [0])
        let imported = try await run("queue", "import", file)
        #expect(imported.status == 0, "\(imported.output)")
        #expect(try owners(in: state) == [Self.owner])
    }

    @Test("the database is set aside under its owner, and the next one starts empty")
    func setAside() async throws {
        _ = try await run("import-mirror", mirror)
        let (status, output) = try await run("database", "set-aside")
        #expect(status == 0, "\(output)")
        #expect(output.contains("the database is now \(state)/home-new.db.aside-"), "\(output)")
        #expect(!exists("\(state)/home-new.db"))
        #expect(try owners(in: state) == [Self.owner])
        let again = try await run("import-mirror", mirror)
        #expect(again.output.contains("imported 1 record"), "\(again.output)")
    }

    @Test("neither a link out of the directory nor one in the database's place has a file of root moved")
    func plantedDatabase() async throws {
        try Self.make(temporary.path("root"), 0o700)
        let target = try temporary.write("precious", to: "root/home-new.db")
        for (link, to) in [("current.db", target), ("current.db", "home-new.db"), ("home-new.db", target)] {
            unlink("\(state)/\(link)")
            try #require(symlink(to, "\(state)/\(link)") == 0)
            for command in ["set-aside", "move-upstream", "forget-key"] {
                let (status, output) = try await run("database", command)
                #expect(status != 0, "\(output)")
            }
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path("root")) == ["home-new.db"])
        }
    }

    @Test("it works below a directory that only root can enter, as systemd keeps the state of dynamic users")
    func privateParent() async throws {
        try Self.make(temporary.path("private"), 0o700)
        let hidden = temporary.path("private/state")
        try Self.make(hidden, 0o700, Self.owner)
        _ = try temporary.makeHome(state: hidden)
        let (status, output) = try await run("import-mirror", mirror)
        #expect(status == 0, "\(output)")
        #expect(try owners(in: hidden) == [Self.owner])
    }

    // MARK: Other users

    private static let stranger = ["--reuid=54322", "--regid=54322", "--clear-groups"]
    private static let program = Program.products.appending(path: "repairminder-sync").path

    /// Whether another user can reach the built command.
    private static func strangerCanRun() async -> Bool {
        let program = try? Program(URL(filePath: "/usr/bin/setpriv"), stranger + ["test", "-x", Self.program])
        return await program?.finish().status == 0
    }

    private func runAsStranger(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await Program(
            URL(filePath: "/usr/bin/setpriv"), Self.stranger + [Self.program] + arguments + ["--config", config]
        ).finish()
    }

    @Test(
        "other users learn how to get permission from every command that uses its files, and of no error code",
        .enabled("other users cannot reach the built command", Self.strangerCanRun),
        arguments: [
            ["login"], ["logout"], ["backup", "x.db"], ["restore", "x.db"], ["import-mirror", "x"],
            ["queue", "export", "x"], ["queue", "import", "x"], ["database", "set-aside"],
        ], [mode_t(0o700), 0o750, 0o755])
    func strangers(command: [String], mode: mode_t) async throws {
        try #require(chmod(state, mode) == 0)
        let (status, output) = try await runAsStranger(command)
        #expect(status == 77)
        let joining = """

              for the commands that call the daemon: you are not in the group repairminder: \
            sudo usermod -aG repairminder uid 54322, then log in again; or use sudo
            """
        #expect(
            output == "repairminder-sync: only root and uid 54321 may use the files in \(state): run this with sudo"
                + (getgrnam("repairminder") == nil ? "" : joining))
    }

    @Test(
        "and below a directory that they cannot enter",
        .enabled("other users cannot reach the built command", Self.strangerCanRun))
    func strangersOutside() async throws {
        try Self.make(temporary.path("private"), 0o700)
        let hidden = temporary.path("private/state")
        try Self.make(hidden, 0o700, Self.owner)
        _ = try temporary.makeHome(state: hidden)
        for command in [["login"], ["logout"], ["backup", "x.db"], ["run"]] {
            let (status, output) = try await runAsStranger(command)
            #expect(status == 77 && output.contains(hidden) && !output.contains("denied"), "\(output)")
        }
    }

    @Test("the daemon itself refuses to run as root on it")
    func daemon() async throws {
        let (status, output) = try await run("run")
        #expect(status == 77)
        #expect(output.contains("belongs to uid 54321"), "\(output)")
    }

    @Test("a state directory that others may enter is refused, with the command that closes it")
    func openFolder() async throws {
        try #require(chmod(state, 0o755) == 0 && chown(state, 0, 0) == 0)
        let (status, output) = try await run("run")
        #expect(status == 78)
        #expect(output.contains("run chmod go= \(state)"), "\(output)")
    }
}
