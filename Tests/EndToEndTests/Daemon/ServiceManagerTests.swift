import Foundation
import GRDB
import Glibc
import JSONText
import Testing

/// The messages of the built daemon to a service manager (sd_notify(3)).
@Suite("Under a service manager", .serialized, .timeLimit(.minutes(10)))
struct ServiceManagerTests {
    @Test("it reports that it is ready once it answers calls, then its status, and finally that it stops")
    func life() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            #expect(await daemon.manager.received.count == 1)
            #expect(try await daemon.call("GET", "/readyz").status == 200)
            let status = try await daemon.manager.message(containing: "signed in")
            #expect(
                status == """
                    STATUS=not set up (not signed in; run repairminder-sync login --config \(daemon.files.config)), \
                    0 pending, \
                    no sync since the start
                    """)
            await daemon.program.signal(SIGTERM)
            _ = try await daemon.manager.message(containing: "STOPPING=1")
            #expect(await daemon.program.finish().status == 0)
        }
    }

    @Test("without configuration it starts, reports what is missing everywhere, and keeps what is written")
    func nothingConfigured() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure(upstream: nil) }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            _ = try await daemon.manager.message(containing: "not set up (the upstream's address is missing", from: 0)
            let missing = try await daemon.call("GET", "/v1/status").body["missing"]?.string
            #expect(missing?.contains("set upstream.base_url") == true)
            let page = try await daemon.call("GET", "/").body
            #expect(page.string?.contains("Not set up: the upstream") == true, "\(page)")
            #expect(try await daemon.call("GET", "/v1/orders").status == 200)
            #expect(try await daemon.call("POST", "/v1/orders", JSONText.object(["client_id": "c1"])).status == 201)
            try daemon.files.configure()
            let before = await daemon.manager.received.count
            _ = try await daemon.reload()
            _ = try await daemon.manager.message(containing: "not set up (not signed in", from: before)
            #expect(try await daemon.call("GET", "/v1/pending/count").body["pending"]?.integer == 1)
        }
    }

    @Test("an invalid configuration ends it with 78 and one line, which systemctl status shows too")
    func wrong() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure(more: "retry: { base: soon }") }) { daemon throws in
            let status = try await daemon.manager.message(containing: "STATUS=")
            #expect(status.contains("retry.base: \"soon\" is not valid"))
            let (code, output) = await daemon.program.finish()
            #expect(code == 78)
            #expect(output == "repairminder-sync: " + status.dropFirst("STATUS=".count))
            #expect(await daemon.manager.received.count == 1)
        }
    }

    @Test("a database of a newer version ends it with 78 and is not changed")
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

    @Test("while a large cache is rebuilt for another schema it extends the start timeout, then reports ready")
    func longOpening() async throws {
        let shop = try await Shop()
        _ = try await shop.command("sync", "--wait")
        _ = await shop.stopDaemon()
        let config = shop.folder.appending(path: "config.yaml").path
        let schema = try String(contentsOfFile: Shop.schema, encoding: .utf8)
        let other = shop.folder.appending(path: "other.yaml").path
        try schema.replacing("client_email: { type: string }", with: "client_email: { type: string, secret: true }")
            .write(toFile: other, atomically: true, encoding: .utf8)
        let manager = try ServiceManagerFake()
        let daemon = try Program(
            "repairminder-sync", ["run", "--config", config, "--schema", other],
            environment: ["NOTIFY_SOCKET": manager.path])
        let first = try await manager.message(containing: "=")
        #expect(first == "STATUS=preparing the database\nEXTEND_TIMEOUT_USEC=60000000\nWATCHDOG=1")
        _ = try await manager.message(containing: "READY=1")
        #expect(
            try await manager.message(containing: "last sync").contains(/^STATUS=idle, 0 pending, last sync [0-9:]{5}$/)
        )
        await daemon.signal(SIGTERM)
        #expect(await daemon.finish().status == 0)
        await manager.close()
        await shop.end()
    }

    @Test("it sends watchdog messages while all parts work, and none while the database cannot be written")
    func watchdog() async throws {
        // Half of it is far more than any part needs to answer, also on a busy machine.
        let environment = ["WATCHDOG_USEC": "10000000"]
        try await SupervisedDaemon.run(environment: environment, setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            for _ in 0..<2 { _ = try await daemon.manager.message(containing: "WATCHDOG=1") }
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            // The daemon may be writing.
            configuration.busyMode = .timeout(20)
            let database = try DatabaseQueue(path: daemon.files.state + "/current.db", configuration: configuration)
            // Another writer can lock out the daemon's for as long as it likes.
            try database.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
            let line = try await daemon.program.line(containing: "a component is stuck")
            #expect(line.hasSuffix("parts=\"database writer\""))
            try database.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
            _ = try await daemon.manager.message(containing: "WATCHDOG=1")
        }
    }
}
