import Foundation
import GRDB
import Glibc
import JSONText
import TestSupport
import Testing

/// Backups, moves to another machine and damaged files, tested with the built commands.
@Suite("Backups and damage", .serialized)
struct BackupAndDamageTests {
    /// Runs with a filled cache, an unreachable upstream and 20 queued changes.
    private func withUnsentWork(_ body: (Shop, Set<String>) async throws -> Void) async throws {
        let shop = try await Shop(rows: 60)
        do {
            #expect(try await shop.command("sync", "--wait").status == 0)
            await shop.gateway.close()
            let orders = try await shop.call("GET", "/v1/orders?limit=20&status.ne=cancelled").body["data"]?.elements
            let keys = Set((orders ?? []).compactMap { $0["id"]?.string })
            for key in keys {
                let answer = try await shop.call(
                    "PATCH", "/v1/orders/\(key)", .object(["notes": .string("unsent \(key)")]))
                #expect(answer.status == 200)
            }
            #expect(keys.count == 20)
            try await body(shop, keys)
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    /// Expects every change upstream, applied once.
    private func expectDeliveredOnce(_ shop: Shop, _ keys: Set<String>) async throws {
        try await shop.gateway.open()
        let sync = try await shop.command("sync", "--wait")
        #expect(sync.status == 0, "\(sync.output)")
        #expect(try await shop.command("pending", "--count").output == "0")
        let there = try await shop.admin("records/orders").filter { $0["notes"]?.string?.hasPrefix("unsent ") == true }
        #expect(Set(there.compactMap { $0["id"]?.string }) == keys)
        let applied = try await shop.admin("log").filter { $0["applied"]?.boolean == true }
        #expect(applied.count == keys.count)
    }

    private func database(_ shop: Shop) throws -> String {
        let state = "\(shop.folder.path)/state"
        return try "\(state)/\(FileManager.default.destinationOfSymbolicLink(atPath: "\(state)/current.db"))"
    }

    private func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    @Test(
        "with a zeroed database header at the start, every unsent change arrives once, and the commands report the damage"
    )
    func damagedHeader() async throws {
        try await withUnsentWork { shop, keys in
            #expect(await shop.stopDaemon() == 0)
            try overwrite(database(shop), at: 0, with: Array(repeating: 0, count: 100))
            let unhealthy = try await shop.command("doctor")
            #expect(unhealthy.status == 1 && unhealthy.output.contains("is damaged"), "\(unhealthy.output)")
            try await startRescuing(shop, keys)
            let doctor = try await shop.command("doctor")
            #expect(doctor.output.contains("the database was damaged and replaced"), "\(doctor.output)")
            #expect(try await shop.command("status").output.contains("20 queued changes were rescued"))
            try await expectDeliveredOnce(shop, keys)
        }
    }

    @Test("with torn pages of queue, history and records at the start, every unsent change arrives once")
    func tornQueue() async throws {
        try await withUnsentWork { shop, keys in
            #expect(await shop.stopDaemon() == 0)
            let path = try database(shop)
            let torn = pages(of: try Data(contentsOf: URL(filePath: path)), holding: "{\"notes\":\"unsent ")
            #expect(torn.count > 1)
            for page in torn { try overwrite(path, at: page, with: [0xFF, 0, 0, 0xFF, 0xFF]) }
            try await startRescuing(shop, keys)
            try await expectDeliveredOnce(shop, keys)
        }
    }

    private func startRescuing(_ shop: Shop, _ keys: Set<String>) async throws {
        try await shop.startDaemon()
        let status = try await shop.call("GET", "/v1/status").body
        #expect(status["rescue"]?["rescued"]?.integer == keys.count)
        #expect(status["rescue"]?["lost"]?.elements.isEmpty == true)
        #expect(status["pending"]?.integer == keys.count)
    }

    /// The offsets of the pages that contain a text.
    private func pages(of file: Data, holding text: String) -> [Int] {
        stride(from: 4096, to: file.count - 4095, by: 4096).filter { start in
            file[start..<start + 4096].range(of: Data(text.utf8)) != nil
        }
    }

    @Test(
        "a backup is made during writes, a restore waits for the daemon to stop, and no change is sent twice")
    func backUpAndRestore() async throws {
        try await withUnsentWork { shop, keys in
            let backup = "\(shop.folder.path)/backup.db"
            // Nothing beside the file is used, because others may be able to write there.
            try FileManager.default.createDirectory(atPath: "\(backup).part", withIntermediateDirectories: false)
            async let writes: Void = write(shop)
            let made = try await shop.command("backup", backup)
            #expect(made.status == 0, "\(made.output)")
            try await writes
            #expect(try await shop.command("backup", backup).status == 75)
            let early = try await shop.command("restore", backup)
            #expect(
                early.status == 75 && early.output.contains("another repairminder-sync is using"), "\(early.output)")
            let before = try await shop.command("pending", "--count").output
            let epoch = try await shop.call("GET", "/v1/changes").body["epoch"]?.string
            #expect(await shop.stopDaemon() == 0)
            let cut = "\(shop.folder.path)/cut.db"
            try Data(contentsOf: URL(fileURLWithPath: backup)).prefix(4096).write(to: URL(fileURLWithPath: cut))
            let refused = try await shop.command("restore", cut)
            #expect(
                refused.status == 65 && refused.output.contains("cut.db is not a whole backup"), "\(refused.output)")
            let restored = try await shop.command("restore", backup)
            #expect(restored.status == 0, "\(restored.output)")
            try await shop.startDaemon()
            // Changes written after the backup are still queued.
            #expect(try await shop.command("pending", "--count").output == before, "\(restored.output)")
            #expect(try await shop.call("GET", "/v1/changes").body["epoch"]?.string != epoch)
            try await shop.gateway.open()
            #expect(try await shop.command("sync", "--wait").status == 0)
            let applied = try await shop.admin("log").filter { $0["applied"]?.boolean == true }
            #expect(Set(applied.compactMap { $0["idempotency_key"]?.string }).count == applied.count)
            #expect("\(applied.count)" == before && applied.count > keys.count)
        }
    }

    @Test("after an upgrade, an older version says how to go back, and the way loses no change and sends none twice")
    func downgrade() async throws {
        try await withUnsentWork { shop, keys in
            #expect(await shop.stopDaemon() == 0)
            try layOut(
                database(shop),
                "DELETE FROM grdb_migrations WHERE identifier LIKE '19:%'; ALTER TABLE sync_outbox DROP COLUMN trace")
            try await shop.startDaemon()
            // The upgrade has made a backup. This change comes after it.
            try await write(shop)
            #expect(await shop.stopDaemon() == 0)
            try layOut(
                database(shop),
                "INSERT INTO grdb_migrations VALUES ('999: later'); ALTER TABLE sync_outbox ADD COLUMN later TEXT")
            let config = shop.folder.appending(path: "config.yaml").path
            let older = try await Program.run("repairminder-sync", ["run", "--config", config])
            #expect(older.status == 78)
            let command = try #require(older.output.firstMatch(of: /repairminder-sync restore (\S+-upgrade\.db)/))
            let restored = try await shop.command("restore", String(command.1))
            #expect(
                restored.output.contains("50 changes are queued")
                    && restored.output.contains("30 of them were made since"))
            try await shop.startDaemon()
            try await shop.gateway.open()
            #expect(try await shop.command("sync", "--wait").status == 0)
            let applied = try await shop.admin("log").filter { $0["applied"]?.boolean == true }
            #expect(applied.count == 50 && keys.count == 20)
            #expect(Set(applied.compactMap { $0["idempotency_key"]?.string }).count == applied.count)
        }
    }

    /// Changes the layout of a database in the way of another version.
    private func layOut(_ path: String, _ sql: String) throws {
        try DatabaseQueue(path: path).write { db in try db.execute(sql: sql) }
    }

    private func write(_ shop: Shop) async throws {
        let tickets = try await shop.call("GET", "/v1/tickets?limit=1").body["data"]?.elements
        let ticket = try #require(tickets?.first?["id"]?.string)
        for number in 0..<30 {
            let message = JSONText.object(["content": .string("message \(number)"), "is_internal": false])
            #expect(try await shop.call("POST", "/v1/tickets/\(ticket)/messages", message).status == 201)
        }
    }

    @Test("an exported queue is imported once on another machine, however often it is repeated")
    func carry() async throws {
        try await withUnsentWork { shop, keys in
            let file = "\(shop.folder.path)/queue.ndjson"
            #expect(try await shop.command("queue", "export", file).status == 75)
            #expect(await shop.stopDaemon() == 0)
            let exported = try await shop.command("queue", "export", file)
            #expect(exported.output == "exported 20 changes to \(file)")
            // Another machine: the same configuration and key with an otherwise empty state directory.
            let state = "\(shop.folder.path)/state"
            try FileManager.default.moveItem(atPath: state, toPath: state + ".old")
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try FileManager.default.copyItem(atPath: state + ".old/secret.key", toPath: state + "/secret.key")
            let taken = try await shop.command("queue", "import", file)
            #expect(taken.output == "imported 20 changes; 0 were already queued")
            #expect(
                try await shop.command("queue", "import", file).output == "imported 0 changes; 20 were already queued")
            try await shop.startDaemon()
            try await expectDeliveredOnce(shop, keys)
            #expect(await shop.stopDaemon() == 0)
            #expect(
                try await shop.command("queue", "import", file).output == "imported 0 changes; 20 were already queued")
        }
    }

    @Test("doctor passes a healthy daemon and reports what is wrong with files, also as JSON")
    func doctor() async throws {
        try await withUnsentWork { shop, _ in
            try await shop.gateway.open()
            #expect(try await shop.command("sync", "--wait").status == 0)
            let healthy = try await shop.command("doctor")
            #expect(healthy.status == 0, "\(healthy.output)")
            #expect(healthy.output.contains("passes the integrity check"))
            #expect(await shop.stopDaemon() == 0)
            let path = try database(shop)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            await shop.gateway.close()
            let unhealthy = try await shop.command("doctor", "--json")
            #expect(unhealthy.status == 1)
            let findings = try JSONText(parsing: unhealthy.output).elements
            func level(_ check: String) -> String? {
                findings.first { $0["check"]?.string == check }?["level"]?.string
            }
            #expect(level("permissions") == "error" && level("upstream") == "error" && level("database") == "ok")
        }
    }

    private static let copier = ProcessInfo.processInfo.environment["LITESTREAM"]

    @Test(
        "nothing is lost when a copy made by Litestream is started elsewhere",
        .enabled(if: copier != nil, "skipped: LITESTREAM does not name the litestream program"))
    func litestream() async throws {
        try await withUnsentWork { shop, keys in
            let path = try database(shop)
            let replica = "\(shop.folder.path)/replica"
            let program = URL(filePath: Self.copier ?? "")
            let copying = try Program(program, ["replicate", path, "file://\(replica)"])
            _ = try await copying.line(containing: "snapshot complete")
            try await write(shop)
            let before = try await shop.command("pending", "--count").output
            await shop.killDaemon()
            // It copies the rest of the log, then ends.
            await copying.signal(SIGTERM)
            _ = await copying.finish()
            let copy = "\(shop.folder.path)/copy.db"
            let restoring = try await Program(
                program, ["restore", "-o", copy, "file://\(replica)"]
            ).finish()
            #expect(restoring.status == 0, "\(restoring.output)")
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try FileManager.default.moveItem(atPath: copy, toPath: path)
            try await shop.startDaemon()
            #expect(try await shop.command("pending", "--count").output == before)
            try await shop.gateway.open()
            #expect(try await shop.command("sync", "--wait").status == 0)
            let applied = try await shop.admin("log").filter { $0["applied"]?.boolean == true }
            #expect(applied.count == 50 && keys.count == 20)
            #expect(Set(applied.compactMap { $0["idempotency_key"]?.string }).count == applied.count)
        }
    }
}
