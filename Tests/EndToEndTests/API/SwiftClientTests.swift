import Foundation
import RepairminderClient
import Testing

/// The Swift library against the built daemon.
@Suite("Swift library", .serialized)
struct SwiftClientTests {
    private func client(of demo: Demo) throws -> RepairminderClient {
        RepairminderClient(try #require(DaemonAddress(demo.api)))
    }

    @Test(
        "a list of many pages has each record once, and records are as the daemon sends them", .timeLimit(.minutes(5)))
    func reads() async throws {
        try await Demo.run { demo in
            let orders = try client(of: demo).records("orders")
            var ids: [String] = []
            for try await page in orders.list(RecordQuery().limited(to: 40)) {
                ids += page.items.compactMap { $0["id"]?.string }
            }
            #expect(ids.count > 400)
            #expect(Set(ids).count == ids.count)
            #expect(try await orders.count() == ids.count)
            let some = RecordQuery(
                where: .equals("status", "ready"), .not(.isNull("client_id")),
                .any([.isAtLeast("total", 150.5), .contains("client_name", #"(a,"b\c")"#)]))
            let found = try await orders.list(some.including("client")).items.collect()
            #expect(found.allSatisfy { ($0["total"]?.decimal ?? 0) >= 150.5 && $0.related("client") != nil })
            #expect(!found.isEmpty)
            var lines = 0
            for try await piece in try await orders.export(some, as: .lines) { lines += piece.count { $0 == 0x0A } }
            #expect(lines == found.count)
        }
    }

    @Test("what the daemon refuses is an error with its code", .timeLimit(.minutes(5)))
    func refusals() async throws {
        try await Demo.run { demo in
            let client = try client(of: demo)
            let orders = client.records("orders")
            let id = try #require(try await orders.first()?["id"]?.string)
            let tag = try await orders.get(id).tag
            let written = try await orders.update(id, ["notes": "One"], WriteOptions(wait: .seconds(30), ifMatch: tag))
            #expect(written.push == nil && written.record?.sync?.state == .synced)
            await expect(.versionMismatch) { try await orders.update(id, ["notes": "Two"], WriteOptions(ifMatch: tag)) }
            await expect(.invalidFields) { try await orders.update(id, ["status": "lost"]) }
            await expect(.notFound) { try await orders.get("ord_0") }
            await expect(.unknownEntity) { try await client.records("parcels").first() }
            try await client.daemon.pause()
            await expect(.paused) { try await client.daemon.sync(wait: true) }
        }
    }

    @Test("a batch and the queue work as the manual says", .timeLimit(.minutes(5)))
    func queue() async throws {
        try await Demo.run { demo in
            let client = try client(of: demo)
            let order = try #require(try await client.records("orders").first())
            let id = try #require(order["id"]), owner = try #require(order["client_id"])
            try await client.daemon.pause()
            var batch = Batch()
            let new = batch.create("orders", ["client_id": owner, "total": 20.50])
            batch.create("devices", ["order_id": new, "model": "Pixel 8"])
            batch.update("orders", id, ["notes": "Comes on Friday"])
            let results = try await client.run(batch).results
            #expect(results.map(\.status) == [201, 201, 200])
            #expect(try await client.queue.count().pending == 3)
            let changes = try await client.queue.list(QueueQuery(states: .queued)).items.collect()
            let edit = try #require(changes.first { $0.recordID == id.plain })
            #expect(edit.fields == ["notes"])
            await expect(.hasDependents) { try await client.queue.discard(try #require(changes.first).id) }
            try await client.queue.discard(edit.id)
            try await client.daemon.resume()
            try await client.daemon.sync(wait: true)
            #expect(try await client.queue.count().pending == 0)
            let renamed = try await client.records("orders").get(results[0].id ?? "")
            #expect(renamed["total"]?.text == "20.5" && renamed.sync?.state == .synced)
            var notes = Batch(isAtomic: false)
            for _ in 1...100 { notes.update("orders", id, ["notes": "Came"]) }
            let brief = try await client.run(notes, wait: .seconds(30), returnsRecords: false)
            #expect(brief.failed == 0 && brief.results.count == 100 && brief.results.allSatisfy { $0.record == nil })
            #expect(try await client.search("pixel 8", entities: ["devices"]).items.contains { !$0.recordID.isEmpty })
        }
    }

    @Test(
        "the stream of changes survives the end of the daemon, and writes wait for the upstream",
        .timeLimit(.minutes(5)))
    func restart() async throws {
        try await ChoresDaemon.running("") { daemon in
            let patient = RetryPolicy(attempts: 60, firstPause: .milliseconds(100), longestPause: .seconds(1))
            let client = RepairminderClient(.unix("\(daemon.folder.path)/api.sock"), retry: patient)
            var events = client.changes.follow(from: try await client.changes.position()).makeAsyncIterator()
            let task = try await client.records("tasks").create(["title": "Wash up"], WriteOptions(wait: .seconds(1)))
            #expect(task.status == 202 && task.push?.state == "pending")
            #expect(try await events.next()?.change?.kind == .queued)
            await daemon.kill()
            let start = Task { try await daemon.start() }
            // Sent while the daemon is down: repeated until it is there.
            try await client.records("chores").create(["title": "Sweep"])
            try await start.value
            #expect(try await client.queue.count().pending == 1)
            var seen: [String] = []
            while !seen.contains("chores") { seen.append(try await events.next()?.change?.entity ?? "") }
            let log = try await client.changes.next(after: .oldest).changes
            #expect(log.contains { $0.position == events.position })
        }
    }

    @Test("a conflict is reported, and its decision undone", .timeLimit(.minutes(5)))
    func conflicts() async throws {
        try await Demo.run { demo in
            let client = try client(of: demo)
            let upstream = RepairminderClient(try #require(DaemonAddress(demo.upstream)))
            let id = try #require(try await client.records("orders").first()?["id"]?.string)
            try await client.daemon.pause()
            try await client.records("orders").update(id, ["notes": "Comes on Monday"])
            try await upstream.call("PATCH", "/api/orders/\(id)", body: ["notes": "Comes on Friday"])
            let position = try await client.changes.position()
            try await client.daemon.resume()
            var events = client.changes.follow(from: position, filter: ChangeFilter(kinds: [.conflict]))
                .makeAsyncIterator()
            #expect(try await events.next()?.change?.recordID == id)
            let conflict = try #require(try await client.conflicts.list().first().items.first)
            #expect(conflict.field == "notes" && !conflict.isOpen)
            #expect(conflict.local == "Comes on Monday" && conflict.server == "Comes on Friday")
            await expect(.conflict) { try await client.conflicts.resolve(conflict.id, for: .local) }
            #expect(try await client.conflicts.undo(conflict.id)["undone_at"]?.date != nil)
            #expect(try await client.conflicts.list(openOnly: true).items.collect().isEmpty)
        }
    }

    @Test("the example of the guide lists tickets and sends a reply", .timeLimit(.minutes(5)))
    func example() async throws {
        try await Demo.run { demo in
            let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "ticket-screen")
            let screen = try Program(program, [demo.api])
            try await screen.type("150 Ready on Tuesday.")
            try await screen.endInput()
            let (status, output) = await screen.finish()
            #expect(status == 0)
            #expect(output.contains("| Open |") && output.contains("| synced"), "\(output)")
            #expect(output.split(separator: "\n").contains("sent"), "\(output)")
        }
    }

    /// Expects that a call fails with a code.
    private func expect(
        _ code: ProblemCode, _ call: () async throws -> some Sendable, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        do {
            _ = try await call()
            Issue.record("no error \(code)", sourceLocation: sourceLocation)
        } catch {
            #expect((error as? ClientError)?.code == code, "\(error)", sourceLocation: sourceLocation)
        }
    }
}
