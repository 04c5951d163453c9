import JSONText
import Testing

/// Correcting a change that the upstream refuses, from the command line.
@Suite("Correcting changes", .serialized)
struct CorrectingChangesTests {
    @Test("a refused creation is corrected and arrives once", .timeLimit(.minutes(15)))
    func corrected() async throws {
        let shop = try await Shop(["--check-references", "--rows", "20"])
        do {
            #expect(try await shop.command("sync", "--wait").status == 0)
            try await refuse(shop)
            try await look(shop)
            try await correct(shop)
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    private func refuse(_ shop: Shop) async throws {
        let order = JSONText.object(["id": "mine", "client_id": "missing", "notes": "first"])
        #expect(try await shop.call("POST", "/v1/orders", order).status == 201)
        #expect(try await shop.call("PATCH", "/v1/orders/mine", .object(["notes": "corrected"])).status == 200)
        _ = try await shop.command("sync", "--wait")
        let change = try #require(try await shop.call("GET", "/v1/pending").body["data"]?.elements.first)
        #expect(change["state"] == "failed" && change.at(path: "error.class") == "refused", "\(change.text)")
    }

    private func look(_ shop: Shop) async throws {
        let queue = try await shop.command("queue")
        #expect(queue.status == 0 && queue.output.contains("failed"), "\(queue.output)")
        let failed = try await shop.command("queue", "--state", "failed", "--entity", "orders", "--sort", "-id")
        #expect(failed.status == 0 && failed.output == queue.output, "\(failed.output)")
        #expect(try await shop.command("pending", "--record", "none").output.contains("no such change"))
        #expect(try await shop.command("queue", "--state", "lost").status == 65)
        let one = try await shop.command("queue", "show", "1")
        #expect(one.output.contains("POST /api/orders") && one.output.contains("Idempotency-Key: "), "\(one.output)")
        #expect(try await shop.command("queue", "edit", "1", "client=x").status == 65)
        #expect(try await shop.command("queue", "show", "99").status == 66)
    }

    private func correct(_ shop: Shop) async throws {
        let clients = try await shop.call("GET", "/v1/clients?limit=1").body["data"]?.elements
        let client = try #require(clients?.first?["id"]?.string)
        let edited = try await shop.command("queue", "edit", "1", "client_id=\(client)")
        #expect(edited.status == 0, "\(edited.output)")
        for _ in 1...20 where try await shop.command("queue", "--count").output != "0" {
            _ = try await shop.command("sync", "--wait")
        }
        let made = try await shop.admin("records/orders").filter { $0["notes"] == "corrected" }
        #expect(made.map { $0["client_id"]?.string } == [client])
        let pending = try await shop.command("pending", "--json").output
        #expect(try JSONText(parsing: pending)["data"]?.elements.isEmpty == true, "\(pending)")
    }
}
