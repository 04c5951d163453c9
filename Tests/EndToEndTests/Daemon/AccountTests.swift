import Foundation
import JSONText
import Testing

/// Each account and each upstream has its own cache, tested with the built commands.
@Suite("Accounts", .serialized)
struct AccountTests {
    @Test("another account gets its own cache, and the first account finds its queue again", .timeLimit(.minutes(5)))
    func accounts() async throws {
        let accounts = try await TwoAccounts()
        do {
            try await firstAccount(accounts)
            try await otherAccount(accounts)
            try await firstAccountAgain(accounts)
            try await otherUpstream(accounts)
        } catch {
            await accounts.end()
            throw error
        }
        await accounts.end()
    }

    private func firstAccount(_ accounts: TwoAccounts) async throws {
        try await accounts.start()
        #expect(try await accounts.command("sync", "--wait").status == 0)
        await accounts.stop()
        try await accounts.start()
        #expect(try accounts.current == "repairminder-company-1.db")
        #expect(try await accounts.records(of: "orders").count == 20)
    }

    /// The token is replaced while the daemon runs and a change is queued.
    private func otherAccount(_ accounts: TwoAccounts) async throws {
        await accounts.router.accept("token-2")
        let order = try #require(try await accounts.records(of: "orders").first?["id"]?.string)
        let change = try await accounts.call("PATCH", "/v1/orders/\(order)", JSONText.object(["notes": "of company 1"]))
        #expect(change.status == 200)
        try accounts.put(token: "token-2")
        try await accounts.requestSync(until: "another account")
        let left = try accounts.bytes("repairminder-company-1.db")
        #expect(try accounts.current == "repairminder-company-2.db")
        #expect(try await accounts.command("pending", "--count").output == "0")
        #expect(try await accounts.command("sync", "--wait").status == 0)
        #expect(try await accounts.records(of: "orders").count == 30)
        #expect(try accounts.bytes("repairminder-company-1.db") == left)
        #expect(try await accounts.writes(to: 1).isEmpty)
        #expect(try await accounts.writes(to: 2).isEmpty)
    }

    private func firstAccountAgain(_ accounts: TwoAccounts) async throws {
        await accounts.router.accept("token-1")
        try accounts.put(token: "token-1")
        try await accounts.requestSync(until: "another account")
        #expect(try accounts.current == "repairminder-company-1.db")
        #expect(try await accounts.command("sync", "--wait").status == 0)
        #expect(try await accounts.command("pending", "--count").output == "0")
        #expect(try await accounts.writes(to: 1).count == 1)
        #expect(try await accounts.writes(to: 2).isEmpty)
        await accounts.stop()
    }

    /// The same account at another address: the old cache is neither shown nor changed, even before the first call.
    private func otherUpstream(_ accounts: TwoAccounts) async throws {
        let left = try accounts.bytes("repairminder-company-1.db")
        try await accounts.configure(at: accounts.elsewhere)
        await accounts.elsewhere.accept()
        try await accounts.start()
        #expect(try accounts.current == "repairminder-new.db")
        #expect(try await accounts.records(of: "orders").isEmpty)
        await accounts.elsewhere.accept("token-1")
        #expect(try await accounts.command("sync", "--wait").status == 0)
        await accounts.stop()
        try await accounts.start()
        #expect(try accounts.current.hasPrefix("repairminder-company-1@"))
        #expect(try await accounts.records(of: "orders").count == 20)
        await accounts.stop()
        #expect(try accounts.bytes("repairminder-company-1.db") == left)
        try await accounts.configure(at: accounts.router)
        try await accounts.start()
        #expect(try accounts.current == "repairminder-company-1.db")
    }
}
