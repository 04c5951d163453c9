import Foundation
import Glibc
import JSONText
import TestSupport
import Testing

/// The built daemon's mirror in plain files, and the cache rebuilt from it.
@Suite("The mirror", .timeLimit(.minutes(10)))
struct MirrorTests {
    private func running(_ body: (ChoresDaemon) async throws -> Void) async throws {
        try await ChoresDaemon.running("mirror: { enabled: true, directory: FOLDER/mirror }", body)
    }

    private func text(_ name: String, _ daemon: ChoresDaemon) throws -> String {
        try String(contentsOf: daemon.folder.appending(path: "mirror/\(name).json"), encoding: .utf8)
    }

    private func removeDatabases(_ daemon: ChoresDaemon) throws {
        let state = daemon.folder.appending(path: "state")
        for name in try FileManager.default.contentsOfDirectory(atPath: state.path) where name.contains(".db") {
            try FileManager.default.removeItem(at: state.appending(path: name))
        }
    }

    @Test
    func `a lost cache is rebuilt from it, with queue and secrets`() async throws {
        try await running { daemon in
            try await daemon.line(containing: "wrote the mirror")
            let chore = JSONText.object(["id": "c", "title": "Filter", "pin": "pin-4711"])
            #expect(try await daemon.call("POST", "/v1/chores", chore).status == 201)
            try await daemon.line(containing: "wrote the mirror entities=chores")
            let task = JSONText.object(["id": "t", "title": "Boiler", "pin": "pin-0815"])
            #expect(try await daemon.call("POST", "/v1/tasks", task).status == 201)
            try await daemon.line(containing: "wrote the mirror entities=tasks")
            #expect(try JSONText(parsing: text("chores", daemon)).elements.map { $0["title"] } == ["Filter"])
            for name in ["chores", "tasks", "_queue"] {
                #expect(try !text(name, daemon).contains("pin-4711") && !text(name, daemon).contains("pin-0815"))
            }
            let refused = try await daemon.command("import-mirror")
            #expect(refused.status != 0 && refused.output.contains("another repairminder-sync is using"))
            let sent = try await daemon.call("GET", "/v1/pending").body["data"]?.elements.first
            await daemon.kill()
            #expect(try await daemon.command("import-mirror", "/nonexistent").status == 65)
            try removeDatabases(daemon)
            let imported = try await daemon.command("import-mirror")
            #expect(imported.output == "imported 1 record and 1 queued change")
            #expect(try await daemon.command("import-mirror").output.contains("move the database"))
            try await daemon.start()
            #expect(try await daemon.call("GET", "/v1/chores/c?reveal=pin").body["pin"] == "pin-4711")
            #expect(try await daemon.call("GET", "/v1/tasks/t?reveal=pin").body["pin"] == "pin-0815")
            let pending = try await daemon.call("GET", "/v1/pending").body["data"]?.elements ?? []
            #expect(pending.map { $0["record_id"] } == ["t"])
            #expect(pending.first?["request"] == sent?["request"])
        }
    }

    @Test
    func `a daemon that is stopped leaves the whole queue in it`() async throws {
        try await running { daemon in
            try await daemon.line(containing: "wrote the mirror")
            for number in 0..<20 {
                let task = JSONText.object(["id": .string("t\(number)"), "title": "Boiler"])
                #expect(try await daemon.call("POST", "/v1/tasks", task).status == 201)
            }
            await daemon.stop()
            #expect(try JSONText(parsing: text("_queue", daemon)).elements.count == 20)
        }
    }

    @Test
    func `a daemon killed at any moment leaves complete files`() async throws {
        try await running { daemon in
            for round in 0..<5 {
                for number in 0...round * 10 {
                    let chore = JSONText.object(["title": .string("\(round) \(number)")])
                    _ = try await daemon.call("POST", "/v1/chores", chore)
                }
                await daemon.kill()
                if let text = try? text("chores", daemon) { #expect(try JSONText(parsing: text).kind == .array) }
                try await daemon.start()
            }
        }
    }

    @Test
    func `the files of a lost cache are set aside, not overwritten`() async throws {
        try await running { daemon in
            try await daemon.line(containing: "wrote the mirror")
            _ = try await daemon.call("POST", "/v1/chores", .object(["id": "c"]))
            try await daemon.line(containing: "wrote the mirror entities=chores")
            await daemon.kill()
            try removeDatabases(daemon)
            try await daemon.start()
            try await daemon.line(containing: "moved it aside")
            await daemon.kill()
            let mirror = daemon.folder.appending(path: "mirror").path
            let folders = try FileManager.default.contentsOfDirectory(atPath: mirror).filter { $0.hasPrefix("before-") }
            let kept = try #require(folders.first)
            #expect(try text("\(kept)/chores", daemon).contains(#""id":"c""#))
            try removeDatabases(daemon)
            #expect(
                try await daemon.command("import-mirror", "\(mirror)/\(kept)").output.hasPrefix("imported 1 record "))
        }
    }

    @Test
    func `an import that is killed changes nothing, and can be repeated`() async throws {
        let folder = try TemporaryFolder()
        let state = folder.path("state")
        let config = try folder.makeHome(state: state)
        // So many that it runs for a while.
        let records = (1...50_000).map { #"{"id": "t\#($0)", "title": "sweep"}"# }
        try folder.write("[\(records.joined(separator: ",\n"))]", to: "mirror/tasks.json")
        let arguments = ["import-mirror", folder.path("mirror"), "--config", config]
        let program = try Program("repairminder-sync", arguments)
        let limit = ContinuousClock.now + .seconds(60)
        func size(_ name: String) -> Int {
            let found = try? FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")
            return found?[.size] as? Int ?? 0
        }
        while ContinuousClock.now < limit, size("home-new.db.restore-wal") < 1 << 20 {
            try await Task.sleep(for: .milliseconds(2))
        }
        await program.signal(SIGKILL)
        #expect(await program.finish().status != 0)
        #expect(size("home-new.db") == 0)
        let (status, output) = try await Program.run("repairminder-sync", arguments)
        #expect(status == 0 && output.contains("imported 50000 records"), "\(output)")
    }
}
