import Foundation
import JSONText
import TestSupport
import Testing

/// Offline work as a user sees it, tested with the built commands.
@Suite("Offline work", .serialized)
struct OfflineWorkTests {
    private static let entities = ["clients", "orders", "devices", "tickets", "ticket_messages"]
    private static let added = [
        "_sync", "full_name", "initials", "display_ref", "display_name", "is_active", "is_paid",
    ]

    @Test("offline work survives a kill and reaches the upstream once", .timeLimit(.minutes(15)))
    func story() async throws {
        let shop = try await Shop(realRecords: true)
        do {
            try await pullEverything(shop)
            let (orders, tickets) = try await chooseRecords(shop)
            await shop.gateway.close()
            try await writeOffline(shop, orders, tickets)
            await shop.killDaemon()
            try await shop.startDaemon()
            #expect(try await shop.command("pending", "--count").output == "120")
            try await shop.gateway.open()
            try await expectDelivered(shop, orders, tickets)
            try await expectNothingMore(shop)
            #expect(await shop.stopDaemon() == 0)
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    // MARK: Steps

    private func pullEverything(_ shop: Shop) async throws {
        let sync = try await shop.command("sync", "--wait")
        #expect(sync.status == 0, "\(sync.output)")
        let status = try await shop.call("GET", "/v1/status").body
        var random = SeededRandom()
        for entity in Self.entities {
            let there = try await shop.admin("records/\(entity)")
            #expect(status.at(path: "entities.\(entity).rows")?.integer == there.count, "\(entity)")
            for record in there.shuffled(using: &random).prefix(40) {
                let key = try #require(record["id"]?.string)
                let here = try await shop.call("GET", "/v1/\(entity)/\(key)").body
                // Byte for byte, except for secrets, the added state and what is computed.
                let own = Self.added.reduce(here) { without($1, $0) }
                #expect(own.text == without("passcode", record).text, "\(TestRun.note())")
            }
        }
    }

    private func chooseRecords(_ shop: Shop) async throws -> (orders: [String], tickets: [String]) {
        let orders = try await shop.call("GET", "/v1/orders?limit=100&status.ne=cancelled").body
        let tickets = try await shop.call("GET", "/v1/tickets?limit=20").body
        func keys(_ list: JSONText) -> [String] { list["data"]?.elements.compactMap { $0["id"]?.string } ?? [] }
        try #require(keys(orders).count == 100 && keys(tickets).count == 20)
        return (keys(orders), keys(tickets))
    }

    private func writeOffline(_ shop: Shop, _ orders: [String], _ tickets: [String]) async throws {
        for order in orders {
            let change = JSONText.object(["status": "cancelled", "notes": .string("offline \(order)")])
            let answer = try await shop.call("PATCH", "/v1/orders/\(order)", change)
            #expect(answer.status == 200)
            #expect(answer.body["status"]?.string == "cancelled")
        }
        for ticket in tickets {
            let message = JSONText.object(["content": .string("offline \(ticket)"), "is_internal": false])
            let answer = try await shop.call("POST", "/v1/tickets/\(ticket)/messages", message)
            #expect(answer.status == 201)
        }
        #expect(try await shop.command("sync", "--wait").status == 75)
        #expect(try await shop.call("GET", "/v1/status").body["state"]?.string == "offline")
    }

    private func expectDelivered(_ shop: Shop, _ orders: [String], _ tickets: [String]) async throws {
        let sync = try await shop.command("sync", "--wait")
        #expect(sync.status == 0, "\(sync.output)")
        #expect(try await shop.command("pending", "--count").output == "0")
        let there = try await shop.admin("records/orders").filter { $0["notes"]?.string?.hasPrefix("offline ") == true }
        #expect(Set(there.compactMap { $0["id"]?.string }) == Set(orders))
        #expect(there.allSatisfy { $0["status"]?.string == "cancelled" })
        let messages = try await shop.admin("records/ticket_messages").filter {
            $0["content"]?.string?.hasPrefix("offline ") == true
        }
        #expect(messages.count == 20)
        #expect(Set(messages.compactMap { $0["ticket_id"]?.string }) == Set(tickets))
        let applied = try await shop.admin("log").filter { $0["applied"]?.boolean == true }
        #expect(applied.count == 120)
        #expect(Set(applied.compactMap { $0["idempotency_key"]?.string }).count == 120)
    }

    /// Neither the sync that pulls the daemon's own changes nor the one after it changes anything.
    private func expectNothingMore(_ shop: Shop) async throws {
        #expect(try await shop.command("sync", "--wait").status == 0)
        let before = try files(shop)
        let rows = try await shop.call("GET", "/v1/status").body["entities"]?.members.map { $0.value["rows"]?.integer }
        #expect(try await shop.command("sync", "--wait").status == 0)
        #expect(try files(shop) == before)
        let after = try await shop.call("GET", "/v1/status").body["entities"]?.members.map { $0.value["rows"]?.integer }
        #expect(after == rows)
        #expect(try await shop.admin("log").filter { $0["applied"]?.boolean == true }.count == 120)
    }

    // MARK: Parts

    /// Every byte of the database and its log.
    private func files(_ shop: Shop) throws -> [String: Data] {
        let state = shop.folder.appending(path: "state")
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: state.path) {
            guard name.hasSuffix(".db") || name.hasSuffix("-wal"), name != "current.db" else { continue }
            files[name] = try Data(contentsOf: state.appending(path: name))
        }
        return files
    }

    private func without(_ key: String, _ record: JSONText) -> JSONText {
        .object(members: record.members.filter { $0.key != key })
    }
}
