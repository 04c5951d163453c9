import Foundation
import GRDB
import Glibc
import JSONText
import Testing

/// What a service manager hears of the built daemon (sd_notify(3)).
@Suite("Under a service manager", .serialized, .timeLimit(.minutes(3)))
struct ServiceManagerTests {
    @Test("it is ready once callers are answered, then says what it does, and at last that it stops")
    func life() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            #expect(await daemon.manager.heard.count == 1)
            #expect(try await daemon.call("GET", "/readyz").status == 200)
            let status = try await daemon.manager.message(containing: "offline")
            #expect(status.hasPrefix("STATUS=offline ("))
            #expect(status.hasSuffix("), 0 pending, no sync since the start"))
            await daemon.program.signal(SIGTERM)
            _ = try await daemon.manager.message(containing: "STOPPING=1")
            #expect(await daemon.program.finish().status == 0)
        }
    }

    @Test("with nothing configured it starts, says what is missing everywhere, and keeps what it is given")
    func nothingConfigured() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure(upstream: nil) }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            _ = try await daemon.manager.message(containing: "not set up (the upstream's address is missing")
            let missing = try await daemon.call("GET", "/v1/status").body["missing"]?.string
            #expect(missing?.contains("set upstream.base_url") == true)
            #expect(try await daemon.call("GET", "/").body.plain.contains("Not set up: the upstream"))
            #expect(try await daemon.call("GET", "/v1/orders").status == 200)
            let client = try await daemon.call("POST", "/v1/clients", JSONText.object(["email": "ada@example.org"]))
            #expect(client.status == 201)
            try daemon.files.configure()
            _ = try await daemon.reload()
            _ = try await daemon.manager.message(containing: "not set up (nobody is signed in")
            #expect(try await daemon.call("GET", "/v1/pending/count").body["pending"]?.integer == 1)
        }
    }

    @Test("a configuration that is wrong ends it with 78, one line, and the same line for systemctl status")
    func wrong() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure(more: "retry: { base: soon }") }) { daemon throws in
            let status = try await daemon.manager.message(containing: "STATUS=")
            #expect(status.contains("retry.base: \"soon\" cannot be used"))
            let (code, output) = await daemon.program.finish()
            #expect(code == 78)
            #expect(output == "repairminder-sync: " + status.dropFirst("STATUS=".count))
            #expect(await daemon.manager.heard.count == 1)
        }
    }

    @Test("a database of a newer version ends it with 78, the files as they were")
    func downgrade() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            await daemon.program.signal(SIGTERM)
            #expect(await daemon.program.finish().status == 0)
            let database = URL(filePath: daemon.files.state + "/repairminder-new.db")
            try DatabaseQueue(path: database.path).write { db in
                try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('999: from the future')")
            }
            let before = try Data(contentsOf: database)
            let older = try await Program.run("repairminder-sync", ["run", "--config", daemon.files.config])
            #expect(older.status == 78)
            #expect(older.output.contains("written by a newer version of repairminder-sync"))
            #expect(try Data(contentsOf: database) == before)
        }
    }

    @Test("while a large cache is rebuilt for another schema it asks for time, and is ready after that")
    func longOpening() async throws {
        let shop = try await Shop()
        _ = try await shop.command("sync", "--wait")
        _ = await shop.stopDaemon()
        let config = shop.folder.appending(path: "config.yaml").path
        let schema = try String(contentsOfFile: Shop.schema, encoding: .utf8)
        let other = shop.folder.appending(path: "other.yaml").path
        try schema.replacing(
            "order_count: { type: integer }", with: "order_count: { type: integer, index: true }"
        ).replacing("phone: { type: string, search: fragments }", with: "phone: { type: string, index: true }")
            .write(toFile: other, atomically: true, encoding: .utf8)
        let manager = try NotifySocket()
        let daemon = try Program(
            "repairminder-sync", ["run", "--config", config, "--schema", other],
            environment: ["NOTIFY_SOCKET": manager.path])
        let first = try await manager.message(containing: "=")
        #expect(first == "STATUS=preparing the database\nEXTEND_TIMEOUT_USEC=60000000\nWATCHDOG=1")
        _ = try await manager.message(containing: "READY=1")
        await daemon.signal(SIGTERM)
        #expect(await daemon.finish().status == 0)
        await manager.close()
        await shop.end()
    }

    @Test("signs of life come while everything moves, and none while the database cannot be written")
    func watchdog() async throws {
        let environment = ["WATCHDOG_USEC": "600000"]
        try await SupervisedDaemon.run(environment: environment, setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            for _ in 0..<3 { _ = try await daemon.manager.message(containing: "WATCHDOG=1") }
            let database = try DatabaseQueue(path: daemon.files.state + "/current.db")
            // Whoever writes beside the daemon stands in its writer's way for as long as it likes.
            try database.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
            let line = try await daemon.program.line(containing: "a part does not move")
            #expect(line.hasSuffix("parts=\"database writer\""))
            try database.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
            _ = try await daemon.manager.message(containing: "WATCHDOG=1")
        }
    }
}
