import Foundation
import RepairminderClient
import TestSupport
import Testing

/// The snippets of `docs/guides/swift-client.md`, as one program.
@Suite("The guide of the Swift library")
struct SwiftGuideTests {
    @Test("the snippets run against a demo", .timeLimit(.minutes(5)))
    func snippets() async throws {
        try await Demo.run { demo in try await story(RepairminderClient(try #require(DaemonAddress(demo.api)))) }
    }

    @Test("what runs here is what the guide shows")
    func text() throws {
        let own = Self.lines(try String(contentsOfFile: #filePath, encoding: .utf8))
        let guide = try ProjectFiles.text("docs/guides/swift-client.md")
        let snippets = guide.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(snippets.count == 8)
        for line in snippets.flatMap(Self.lines) where !line.hasPrefix("let client =") {
            #expect(own.contains(line), "\(line)")
        }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    // swift-format-ignore
    private func story(_ client: RepairminderClient) async throws {
        let status = try await client.daemon.status()
        print(status.state, status.pending, status.rows("orders") ?? 0)

        let orders = client.records("orders")
        let ready = RecordQuery(where: .equals("status", "ready"), .isAtLeast("total", 150)).sorted(by: "-total")
        for try await order in orders.list(ready.including("client")).items {
            print(order["order_number"]?.plain ?? "", order["total"]?.text ?? "", order.related("client")?["city"]?.plain ?? "")
        }

        guard let id = try await orders.first(ready)?["id"]?.plain else { return }
        let order = try await orders.get(id)
        let result = try await orders.update(id, ["notes": "Called"], WriteOptions(wait: .seconds(10), ifMatch: order.tag))
        if let push = result.push {
            print("saved here; the upstream does not have it yet:", push.state)
        }
        try await orders.update(id) { order in
            ["notes": .string((order["notes"]?.plain ?? "") + ", called twice")]
        }
        #expect(try await orders.get(id)["notes"] == "Called, called twice")

        var batch = Batch()
        let new = batch.create("orders", ["client_id": order["client_id"] ?? .null, "total": 20.5])
        batch.create("devices", ["order_id": new, "model": "Pixel 8"])
        let results = try await client.run(batch).results
        #expect(results.map(\.status) == [201, 201])

        do {
            try await orders.update(id, ["status": "lost"])
            Issue.record("no error")
        } catch ClientError.problem(let problem) where problem.code == .invalidFields {
            for error in problem.errors { print(error.field ?? "", error.message) }
        } catch {
            print("not saved:", error)
            throw error
        }
        try await follow(client, id)
    }

    private func follow(_ client: RepairminderClient, _ id: String) async throws {
        let orders = client.records("orders")
        let start = try await client.changes.position()
        // Read the records here: nothing that happens meanwhile is missed.
        try await orders.update(id, ["notes": "Done"])
        for try await event in client.changes.follow(from: start, filter: ChangeFilter(entities: ["orders"])) {
            switch event {
            case .change(let change): print(change.kind, change.recordID, change.position)
            case .resync: print("changes are missing: read the records again")
            }
            break
        }
        for try await change in client.queue.list(QueueQuery(states: .failed)).items {
            print(change.entity, change.recordID, change.error?.message ?? "")
        }
    }
}
