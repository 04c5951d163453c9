import EntitySchema
import Foundation
import JSONText
import TestSupport
import Testing

/// Offline work in the format in which the real service answers, with its sign-in and without idempotency keys.
@Suite("Offline work with the live schema", .serialized)
struct LiveSchemaTests {
    private static let entities = [
        "clients", "orders", "order_items", "order_payments", "devices", "device_parts", "tickets", "ticket_messages",
        "users",
    ]

    /// The keys of the records that are changed offline.
    private struct Work {
        var orders: [String] = []
        var devices: [String] = []
        var forbidden = ""
        var replies: [String] = []
        var notes: [String] = []

        var changes: Int { orders.count + 2 * devices.count + replies.count + notes.count }
    }

    @Test(
        "after sign-in, offline changes arrive once, and a refused change stops no others", .timeLimit(.minutes(15)))
    func story() async throws {
        let shop = try await Shop(schema: "repairminder-live", Shop.userArguments)
        do {
            try await signIn(shop)
            try await pullEverything(shop)
            let work = try await chooseWork(shop)
            await shop.gateway.close()
            try await writeOffline(shop, work)
            await shop.killDaemon()
            try await shop.startDaemon()
            _ = try await shop.admin("tokens", "DELETE")
            try await loseAnswers(shop)
            try await shop.gateway.open()
            try await expectDelivered(shop, work)
            try await expectRefusal(shop, work)
            try await expectNothingMore(shop, work)
            #expect(await shop.stopDaemon() == 0)
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    @Test("a wrong password ends the sign-in with the upstream's message and status 77", .timeLimit(.minutes(5)))
    func wrongPassword() async throws {
        let shop = try await Shop(schema: "repairminder-live", Shop.userArguments)
        do {
            let login = try await shop.start("login")
            try await login.type("ada@example.org")
            try await login.type("mistaken")
            let ended = await login.finish()
            #expect(ended.status == 77)
            #expect(ended.output.contains("the name or the password is wrong"))
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    @Test("after a sign-out the daemon sends nothing, and the next sign-in sends the queue", .timeLimit(.minutes(5)))
    func signOut() async throws {
        let shop = try await Shop(schema: "repairminder-live", Shop.userArguments)
        do {
            let none = try await shop.command("logout")
            #expect(none.status == 0 && none.output.contains("not signed in"), "\(none.output)")
            try await signIn(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            let out = try await shop.command("logout")
            #expect(out.status == 0, "\(out.output)")
            #expect(out.output.contains("signed out; the upstream no longer accepts the token"), "\(out.output)")
            #expect(out.output.contains("the running daemon no longer uses the sign-in"), "\(out.output)")
            #expect(!FileManager.default.fileExists(atPath: "\(shop.folder.path)/state/tokens.json"))
            let refused = try await shop.command("sync", "--wait")
            #expect(refused.status != 0 && refused.output.contains("repairminder-sync login"), "\(refused.output)")
            let order = try #require(try await shop.call("GET", "/v1/orders?limit=1").body["data"]?.elements.first)
            let key = try #require(order["id"]?.string)
            #expect(try await shop.call("PATCH", "/v1/orders/\(key)", .object(["carrier": "offline"])).status < 300)
            #expect(try await shop.call("GET", "/v1/pending/count").body["pending"]?.integer == 1)
            try await shop.signIn()
            #expect(try await shop.command("sync", "--wait").status == 0)
            #expect(try await shop.call("GET", "/v1/pending/count").body["pending"]?.integer == 0)
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    // MARK: Steps

    private func signIn(_ shop: Shop) async throws {
        let early = try await shop.command("sync", "--wait")
        #expect(early.status != 0 && early.output.contains("repairminder-sync login"), "\(early.output)")
        try await shop.signIn()
        let file = try FileManager.default.attributesOfItem(atPath: "\(shop.folder.path)/state/tokens.json")
        #expect((file[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    private func pullEverything(_ shop: Shop) async throws {
        let sync = try await shop.command("sync", "--wait")
        #expect(sync.status == 0, "\(sync.output)")
        try await expectEqual(shop)
    }

    private func chooseWork(_ shop: Shop) async throws -> Work {
        func keys(_ path: String) async throws -> [String] {
            try await shop.call("GET", path).body["data"]?.elements.compactMap { $0["id"]?.string } ?? []
        }
        let work = Work(
            orders: try await keys("/v1/orders?limit=20"),
            devices: try await keys("/v1/devices?status=repairing&limit=5"),
            forbidden: try #require(try await keys("/v1/devices?status=collected&limit=1").first),
            replies: try await keys("/v1/tickets?limit=10"), notes: try await keys("/v1/tickets?limit=10&status=closed")
        )
        try #require(work.orders.count == 20 && work.devices.count == 5)
        try #require(work.replies.count == 10 && work.notes.count == 10)
        return work
    }

    private func writeOffline(_ shop: Shop, _ work: Work) async throws {
        func write(_ method: String, _ path: String, _ body: JSONText, _ status: Int) async throws {
            let answer = try await shop.call(method, path, body)
            #expect(answer.status == status, "\(path): \(answer.body.text)")
        }
        // The change that the server refuses is first in the queue.
        try await write("PATCH", "/v1/devices/\(work.forbidden)", .object(["status": "diagnosing"]), 200)
        for order in work.orders {
            try await write("PATCH", "/v1/orders/\(order)", .object(["carrier": .string("offline \(order)")]), 200)
        }
        for device in work.devices {
            let change = JSONText.object(["status": "repaired_qc", "diagnosis_notes": .string("offline \(device)")])
            try await write("PATCH", "/v1/devices/\(device)", change, 200)
        }
        for (tickets, type) in [(work.replies, "outbound"), (work.notes, "note")] {
            for ticket in tickets {
                let message = JSONText.object([
                    "body_text": .string("offline \(type) \(ticket)"), "type": .string(type),
                ])
                try await write("POST", "/v1/tickets/\(ticket)/messages", message, 201)
            }
        }
    }

    /// The upstream applies some of the first writes without answering.
    private func loseAnswers(_ shop: Shop) async throws {
        let rules = ["POST", "PATCH"].map { method in
            JSONText.object([
                "effect": "timeout_after_apply", "duration": "1ms", "method": .string(method), "path": "/api/tickets",
                "next": 3,
            ])
        }
        _ = try await shop.admin("faults", "POST", .object(["faults": .array(rules)]))
    }

    private func expectDelivered(_ shop: Shop, _ work: Work) async throws {
        // Some answers are lost, so their changes need more than one attempt.
        for _ in 1...20 where try await shop.command("pending", "--count").output != "0" {
            _ = try await shop.command("sync", "--wait")
        }
        let pending = try await shop.command("pending", "--json")
        try #require(try await shop.command("pending", "--count").output == "0", "\(pending.output)")
        let orders = try await shop.admin("records/orders").filter {
            $0["carrier"]?.string?.hasPrefix("offline") == true
        }
        #expect(Set(orders.compactMap { $0["id"]?.string }) == Set(work.orders))
        let devices = try await shop.admin("records/devices").filter {
            $0["diagnosis_notes"]?.string?.hasPrefix("offline") == true
        }
        #expect(Set(devices.compactMap { $0["id"]?.string }) == Set(work.devices))
        #expect(devices.allSatisfy { $0["status"] == "repaired_qc" })
        let messages = try await shop.admin("records/ticket_messages").compactMap { $0["body_text"]?.string }.filter {
            $0.hasPrefix("offline")
        }
        let expected = work.replies.map { "offline outbound \($0)" } + work.notes.map { "offline note \($0)" }
        #expect(messages.sorted() == expected.sorted())
        let log = try await shop.admin("log")
        #expect(log.filter { $0["applied"]?.boolean == true }.count == work.changes)
        #expect(log.filter { $0["path"] == "/api/auth/refresh" }.map { $0["status"]?.integer } == [200])
    }

    private func expectRefusal(_ shop: Shop, _ work: Work) async throws {
        let change = try #require(try await shop.call("GET", "/v1/pending").body["data"]?.elements.first)
        #expect(change["record_id"]?.string == work.forbidden)
        #expect(change["state"] == "failed")
        #expect(change.text.contains("status cannot go from collected to diagnosing"), "\(change.text)")
        let id = try #require(change["id"]?.plain)
        let discarded = try await shop.command("pending", "--discard", id)
        #expect(discarded.status == 0, "\(discarded.output)")
        #expect(try await shop.call("GET", "/v1/pending").body["data"]?.elements.isEmpty == true)
    }

    private func expectNothingMore(_ shop: Shop, _ work: Work) async throws {
        for _ in 1...2 {
            let sync = try await shop.command("sync", "--wait", "--full")
            #expect(sync.status == 0, "\(sync.output)")
        }
        try await expectEqual(shop)
        #expect(try await shop.admin("log").filter { $0["applied"]?.boolean == true }.count == work.changes)
    }

    // MARK: Parts

    /// Each field has the upstream's value, but for secrets, wherever the single record has it: all records in a full run,
    /// otherwise some of each entity.
    private func expectEqual(_ shop: Shop) async throws {
        let schema = try ProjectFiles.schema("repairminder-live")
        for name in Self.entities {
            let entity = try #require(schema[name])
            let there = try await shop.admin("records/\(name)")
            let status = try await shop.call("GET", "/v1/status").body
            #expect(status.at(path: "entities.\(name).rows")?.integer == there.count, "\(name)")
            var random = SeededRandom()
            for record in there.shuffled(using: &random).prefix(TestRun.isFull ? .max : 40) {
                let key = try #require(record["id"]?.string)
                let here = try await shop.call("GET", "/v1/\(name)/\(key)").body
                let embedded = entity.pull?.details.flatMap(\.list.records.paths) ?? []
                for field in entity.fields where !field.secret && !embedded.contains(field.name) {
                    let (ours, theirs) = (
                        entity.value(of: field.name, in: here), entity.value(of: field.name, in: record)
                    )
                    #expect(
                        ours?.text ?? "null" == theirs?.text ?? "null",
                        "\(name)/\(key): \(field.name) \(TestRun.note())")
                }
            }
        }
    }
}
