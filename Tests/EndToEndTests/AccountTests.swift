import Foundation
import JSONText
import Testing

/// Each account and each upstream has a cache of its own, with the built commands.
@Suite("Accounts", .serialized)
struct AccountTests {
    @Test("another account finds a cache of its own, and the first its queue when it is back", .timeLimit(.minutes(5)))
    func accounts() async throws {
        let company = try await Companies()
        do {
            try await firstAccount(company)
            try await otherAccount(company)
            try await back(company)
            try await otherUpstream(company)
        } catch {
            await company.end()
            throw error
        }
        await company.end()
    }

    private func firstAccount(_ company: Companies) async throws {
        try await company.start()
        #expect(try await company.command("sync", "--wait").status == 0)
        await company.stop()
        try await company.start()
        #expect(try company.current == "repairminder-company-1.db")
        #expect(try await company.records(of: "orders").count == 20)
    }

    /// The token is exchanged while the daemon runs and a change waits.
    private func otherAccount(_ company: Companies) async throws {
        await company.switchboard.accept("token-2")
        let order = try #require(try await company.records(of: "orders").first?["id"]?.string)
        let change = try await company.call("PATCH", "/v1/orders/\(order)", JSONText.object(["notes": "of company 1"]))
        #expect(change.status == 200)
        try company.put(token: "token-2")
        try await company.requestSync(until: "another account")
        let left = try company.bytes("repairminder-company-1.db")
        #expect(try company.current == "repairminder-company-2.db")
        #expect(try await company.command("pending", "--count").output == "0")
        #expect(try await company.command("sync", "--wait").status == 0)
        #expect(try await company.records(of: "orders").count == 30)
        #expect(try company.bytes("repairminder-company-1.db") == left)
        #expect(try await company.writes(to: 1).isEmpty)
        #expect(try await company.writes(to: 2).isEmpty)
    }

    private func back(_ company: Companies) async throws {
        await company.switchboard.accept("token-1")
        try company.put(token: "token-1")
        try await company.requestSync(until: "another account")
        #expect(try company.current == "repairminder-company-1.db")
        #expect(try await company.command("sync", "--wait").status == 0)
        #expect(try await company.command("pending", "--count").output == "0")
        #expect(try await company.writes(to: 1).count == 1)
        #expect(try await company.writes(to: 2).isEmpty)
        await company.stop()
    }

    /// The same account at another address: nothing of the old cache is shown or touched, not even before the first call.
    private func otherUpstream(_ company: Companies) async throws {
        let left = try company.bytes("repairminder-company-1.db")
        try await company.configure(at: company.elsewhere)
        await company.elsewhere.accept()
        try await company.start()
        #expect(try company.current == "repairminder-new.db")
        #expect(try await company.records(of: "orders").isEmpty)
        await company.elsewhere.accept("token-1")
        #expect(try await company.command("sync", "--wait").status == 0)
        await company.stop()
        try await company.start()
        #expect(try company.current.hasPrefix("repairminder-company-1@"))
        #expect(try await company.records(of: "orders").count == 20)
        await company.stop()
        #expect(try company.bytes("repairminder-company-1.db") == left)
        try await company.configure(at: company.switchboard)
        try await company.start()
        #expect(try company.current == "repairminder-company-1.db")
    }
}
