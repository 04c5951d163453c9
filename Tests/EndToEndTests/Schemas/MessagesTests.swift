import JSONText
import Testing

/// The schema of a chat, tested with the built commands.
@Suite("Messages", .serialized)
struct MessagesTests {
    static let outline = SystemOutline(
        """
        conversations id, participant_ids, is_group, last_message_text?, last_message_time?, unread_count
        messages id, conversation_id, sender_id, text, timestamp, status (pending, sent, delivered, read, failed), read_by
        """,
        relations: "conversations/messages messages/conversation")

    private func checks(_ shop: Shop) -> SystemChecks {
        SystemChecks(
            shop: shop, outline: Self.outline,
            served: [
                "conversations.last_message_text", "conversations.last_message_time", "conversations.unread_count",
                "messages.status",
            ])
    }

    @Test("every entity, field, enum, relation and index is there", .timeLimit(.minutes(10)))
    func outline() async throws {
        try await Shop.with("messages", rows: 5) { shop in
            try Self.outline.check(against: try await shop.call("GET", "/openapi.json").body)
        }
    }

    @Test("records arrive byte for byte", .timeLimit(.minutes(10)))
    func pulls() async throws {
        try await Shop.with("messages") { shop in
            let secrets = try await checks(shop).pulls()
            #expect(secrets.allSatisfy { $0.value.isEmpty })
        }
    }

    @Test("records of every entity are created, changed and deleted offline, through a kill", .timeLimit(.minutes(5)))
    func roundTrips() async throws {
        try await Shop.with("messages") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            try await checks(shop).roundTrips(["conversations", "messages"])
        }
    }

    @Test("a conversation's messages are listed by time, and deleted with it", .timeLimit(.minutes(10)))
    func conversation() async throws {
        try await Shop.with("messages") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let id = try #require(try await shop.admin("records/messages").first?["conversation_id"]?.string)
            let path = "/v1/conversations/\(id)/messages"
            let times = try await shop.call("GET", path).body["data"]?.elements.compactMap { $0["timestamp"]?.string }
            #expect(times?.isEmpty == false && times == times?.sorted())
            await shop.gateway.close()
            #expect(try await shop.call("DELETE", "/v1/conversations/\(id)").status == 204)
            let left = try await shop.call("GET", "/v1/messages?conversation_id=\(id)").body["data"]?.elements
            #expect(left?.isEmpty == true)
            try await checks(shop).killAndSync()
            let there = try await shop.admin("records/messages")
            #expect(there.allSatisfy { $0["conversation_id"]?.string != id })
            for entity in ["conversations", "messages"] { try await checks(shop).agrees(on: entity) }
        }
    }

    @Test("fields derived from the messages or the queue cannot be written", .timeLimit(.minutes(10)))
    func derived() async throws {
        try await Shop.with("messages") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let id = try #require(try await shop.admin("records/messages").first?["id"]?.string)
            #expect(try await shop.call("PATCH", "/v1/messages/\(id)", .object(["status": "read"])).status == 422)
            let talk = try #require(try await shop.admin("records/conversations").first?["id"]?.string)
            let body = JSONText.object(["unread_count": 9_999])
            #expect(try await shop.call("PATCH", "/v1/conversations/\(talk)", body).status == 422)
        }
    }

    @Test("readers added on both sides are all kept", .timeLimit(.minutes(10)))
    func readBy() async throws {
        try await Shop.with("messages") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let message = try #require(try await shop.admin("records/messages").first)
            let path = "messages/\(message["id"]?.plain ?? "")"
            let known = message["read_by"]?.elements ?? []
            func reading(_ reader: JSONText) -> JSONText { .object(["read_by": .array(known + [reader])]) }
            await shop.gateway.close()
            #expect(try await shop.call("PATCH", "/v1/\(path)", reading("here")).status == 200)
            _ = try await shop.admin("records/\(path)", "PATCH", reading("there"))
            try await checks(shop).killAndSync()
            let all = Set(known + ["here", "there"])
            #expect(Set(try await shop.call("GET", "/v1/\(path)").body["read_by"]?.elements ?? []) == all)
            #expect(Set(try await shop.admin("records/\(path)").first?["read_by"]?.elements ?? []) == all)
        }
    }

    @Test("messages are found by words, and the commands work on them", .timeLimit(.minutes(10)))
    func commands() async throws {
        try await Shop.with("messages") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let id = try #require(try await shop.admin("records/conversations").first?["id"]?.string)
            try await checks(shop).commands(
                "messages", text: "text",
                creating: [
                    "conversation_id=\(id)", "sender_id=company-1", "text=hello", "timestamp=2026-06-30T18:00:00Z",
                ])
        }
    }

    @Test("another account sees none of the records", .timeLimit(.minutes(10)))
    func otherAccount() async throws {
        try await TwoAccounts.seesNothing("messages", entities: ["conversations", "messages"])
    }
}
