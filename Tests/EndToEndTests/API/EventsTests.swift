import Foundation
import JSONText
import Testing

/// `repairminder-sync events`, tested with the built commands.
@Suite("Events", .serialized)
struct EventsTests {
    @Test("a restart of the daemon neither loses nor repeats events", .timeLimit(.minutes(5)))
    func resumes() async throws {
        let shop = try await Shop()
        do {
            let sync = try await shop.command("sync", "--wait")
            #expect(sync.status == 0, "\(sync.output)")
            let order = try #require(
                try await shop.call("GET", "/v1/orders?limit=1").body["data"]?.elements.first?["id"]?.string)
            await shop.gateway.close()
            let events = try await shop.start("events", "--since", "0")
            var seen = try await numbers(from: events, untilNotes: "one", of: order, shop)
            await shop.killDaemon()
            seen += try await numbers(from: events) { $0.contains("waiting for it") }
            try await shop.startDaemon()
            seen += try await numbers(from: events, untilNotes: "two", of: order, shop)
            #expect(seen == Array(1...seen.count))
            let history = try await shop.command("history", "orders", order)
            #expect(history.status == 0)
            #expect(history.output.contains("notes=one") && history.output.contains("notes=two"))
            await events.signal(SIGINT)
            _ = await events.finish()
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    /// Makes an edit and reads events up to its own.
    private func numbers(
        from events: Program, untilNotes notes: String, of order: String, _ shop: Shop
    ) async throws -> [Int] {
        let answer = try await shop.call("PATCH", "/v1/orders/\(order)", JSONText.object(["notes": .string(notes)]))
        #expect(answer.status == 200)
        return try await numbers(from: events) { line in
            guard let event = try? JSONText(parsing: line) else { return false }
            return event["kind"] == "queued" && event["fields"]?.text == #"["notes"]"#
        }
    }

    /// The numbers of all events up to the first line that `isLast`.
    private func numbers(from events: Program, until isLast: (String) throws -> Bool) async throws -> [Int] {
        var numbers: [Int] = []
        while true {
            let line = try await events.line()
            if line.hasPrefix("{\"seq\":") {
                numbers.append(try #require(JSONText(parsing: line)["seq"]?.integer))
            }
            if try isLast(line) { return numbers }
        }
    }
}
