import JSONText
import TestSupport
import Testing

/// Messages written offline, tested with the built commands.
@Suite("Offline messages", .serialized)
struct OfflineMessagesTests {
    /// The account's name upstream.
    private static let me = "company-1"
    /// How many messages are written offline.
    private static let count = TestRun.isFull ? 50 : 12

    @Test("messages written offline arrive once and in order, through a kill and failures", .timeLimit(.minutes(12)))
    func story() async throws {
        try await Shop.with("messages") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let talks = try await shop.admin("records/conversations").prefix(3).compactMap { $0["id"]?.string }
            try #require(talks.count == 3)
            let unread = try await column("unread_count", of: talks, shop)
            await shop.gateway.close()
            let written = try await write(talks, shop)
            await shop.killDaemon()
            try await shop.startDaemon()
            #expect(try await shop.command("pending", "--count").output == "\(Self.count)")
            try await expectPending(written, shop)
            #expect(try await column("unread_count", of: talks, shop) == unread)
            try await deliver(shop)
            try await expectDelivered(written, shop)
            #expect(try await column("unread_count", of: talks, shop) == unread)
            try await moveOn(talks[0], shop)
        }
    }

    @Test("a message that failed permanently stays failed until it is retried", .timeLimit(.minutes(5)))
    func failed() async throws {
        try await Shop.with("messages") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let talk = try #require(try await shop.admin("records/conversations").first?["id"]?.string)
            _ = try await shop.admin(
                "faults", "POST", faults([#"{"effect":"fail","status":422,"method":"POST","next":1}"#]))
            let made = try await shop.call("POST", "/v1/conversations/\(talk)/messages", message("hello", at: 1))
            let id = made.body["id"]?.plain ?? ""
            #expect(made.body["status"] == "pending")
            _ = try await shop.command("sync", "--wait")
            #expect(try await shop.call("GET", "/v1/messages/\(id)").body["status"] == "failed")
            await shop.gateway.close()
            #expect(try await shop.command("queue", "retry").status == 0)
            #expect(try await shop.call("GET", "/v1/messages/\(id)").body["status"] == "pending")
            try await shop.gateway.open()
            #expect(try await shop.command("sync", "--wait").status == 0)
            #expect(try await shop.call("GET", "/v1/messages/\(id)").body["status"] == "sent")
        }
    }

    // MARK: Steps

    /// Returns the texts written in each conversation, in order.
    private func write(_ talks: [String], _ shop: Shop) async throws -> [String: [String]] {
        var written: [String: [String]] = [:]
        for number in 1...Self.count {
            let talk = talks[number * 7 % 3]
            let text = "written offline, number \(number)"
            let answer = try await shop.call("POST", "/v1/conversations/\(talk)/messages", message(text, at: number))
            #expect(answer.status == 201 && answer.body["status"] == "pending")
            written[talk, default: []].append(text)
        }
        return written
    }

    private func expectPending(_ written: [String: [String]], _ shop: Shop) async throws {
        for (talk, texts) in written {
            let here = try await messages(of: talk, shop)
            #expect(here.map { $0["text"]?.plain ?? "" } == texts)
            #expect(here.allSatisfy { $0["status"] == "pending" })
            let conversation = try await shop.call("GET", "/v1/conversations/\(talk)").body
            #expect(conversation["last_message_text"]?.string == texts.last)
            #expect(conversation["last_message_time"] == here.last?["timestamp"])
        }
    }

    /// One attempt fails before the upstream applies the change and one after; in a full run, so does every third.
    private func deliver(_ shop: Shop) async throws {
        var rules = [
            #"{"effect":"fail","status":503,"method":"POST","next":1}"#,
            #"{"effect":"cut_body","method":"POST","next":1}"#,
        ]
        if TestRun.isFull {
            rules += [
                #"{"effect":"fail","status":503,"method":"POST","rate":0.2}"#,
                #"{"effect":"cut_body","method":"POST","rate":0.17}"#,
            ]
        }
        _ = try await shop.admin("faults", "POST", faults(rules))
        try await shop.gateway.open()
        // A sync ends when the upstream only fails; the queue continues by itself or with the next sync.
        for _ in 0..<300 where try await shop.command("pending", "--count").output != "0" {
            _ = try await shop.command("queue", "retry")
            _ = try await shop.command("sync", "--wait")
        }
        #expect(try await shop.command("pending", "--count").output == "0")
        _ = try await shop.admin("faults", "DELETE")
        #expect(try await shop.command("sync", "--wait").status == 0)
    }

    private func expectDelivered(_ written: [String: [String]], _ shop: Shop) async throws {
        let there = try await shop.admin("records/messages").filter { isWritten($0) }
        #expect(there.count == Self.count)
        for (talk, texts) in written {
            // The upstream keeps records in the order of their arrival.
            let arrived = there.filter { $0["conversation_id"]?.string == talk }
            #expect(arrived.map { $0["text"]?.plain ?? "" } == texts)
            #expect(arrived.allSatisfy { $0["status"] == "sent" })
            let here = try await messages(of: talk, shop)
            #expect(here.map { $0["text"]?.plain ?? "" } == texts)
            #expect(here.allSatisfy { $0["status"] == "sent" })
            let mine = try await shop.call("GET", "/v1/conversations/\(talk)").body
            let theirs = try await shop.admin("records/conversations").first { $0["id"]?.string == talk }
            for field in ["last_message_text", "last_message_time", "unread_count"] {
                #expect(mine[field] == theirs?[field], "\(field)")
            }
            #expect(mine["last_message_text"]?.string == texts.last)
        }
        let answered = try await shop.admin("log").filter { $0["method"] == "POST" }
        #expect(answered.filter { $0["applied"]?.boolean == true }.count == Self.count)
        #expect(answered.count > Self.count)
    }

    /// Only the server reports a message as delivered and read, and never takes it back.
    private func moveOn(_ talk: String, _ shop: Shop) async throws {
        let id = try #require(try await messages(of: talk, shop).first?["id"]?.string)
        for (said, shown) in [("delivered", "delivered"), ("read", "read"), ("sent", "read")] {
            _ = try await shop.admin("records/messages/\(id)", "PATCH", .object(["status": .string(said)]))
            #expect(try await shop.command("sync", "--wait").status == 0)
            #expect(try await shop.call("GET", "/v1/messages/\(id)").body["status"]?.string == shown)
        }
    }

    // MARK: Parts

    private func message(_ text: String, at minute: Int) -> JSONText {
        let time = "2026-11-20T\(10 + minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60):00.000Z"
        return .object(["sender_id": .string(Self.me), "text": .string(text), "timestamp": .string(time)])
    }

    private func faults(_ rules: [String]) throws -> JSONText {
        try JSONText(parsing: "{\"faults\":[\(rules.joined(separator: ","))]}")
    }

    private func isWritten(_ message: JSONText) -> Bool {
        message["text"]?.string?.hasPrefix("written offline") == true
    }

    /// The messages written here, by time.
    private func messages(of talk: String, _ shop: Shop) async throws -> [JSONText] {
        let list = try await shop.call("GET", "/v1/conversations/\(talk)/messages?limit=1000").body["data"]
        return (list?.elements ?? []).filter { isWritten($0) }
    }

    private func column(_ field: String, of talks: [String], _ shop: Shop) async throws -> [String] {
        var values: [String] = []
        for talk in talks {
            values.append(try await shop.call("GET", "/v1/conversations/\(talk)").body[field]?.plain ?? "")
        }
        return values
    }
}
