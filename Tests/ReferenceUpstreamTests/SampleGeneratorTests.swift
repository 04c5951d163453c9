import EntitySchema
import JSONText
import ReferenceUpstream
import TestSupport
import Testing

@Suite("Sample records for any schema")
struct SampleGeneratorTests {
    static let schemas = ["propdocs", "itori", "messages", "repairminder", "repairminder-live"]

    private func sample(_ name: String) throws -> (schema: EntitySchema, records: [String: [JSONText]]) {
        let schema = try ProjectFiles.schema(name)
        return (schema, SampleGenerator(schema: schema, rows: 90, seed: 3).records())
    }

    @Test("a seed gives the same bytes each time, another seed gives others", arguments: schemas)
    func deterministic(_ name: String) throws {
        let (schema, first) = try sample(name)
        #expect(SampleGenerator(schema: schema, rows: 90, seed: 3).records() == first)
        #expect(SampleGenerator(schema: schema, rows: 90, seed: 4).records() != first)
    }

    @Test("every entity has records with unique keys", arguments: schemas)
    func keys(_ name: String) throws {
        let (schema, records) = try sample(name)
        for entity in schema.entities where !entity.isLocal {
            let keys = try #require(records[entity.name]).map { $0[entity.key]?.plain ?? "" }
            #expect(!keys.isEmpty && !keys.contains("") && Set(keys).count == keys.count, "\(entity.name)")
        }
    }

    @Test("every reference resolves, and required ones are set", arguments: schemas)
    func references(_ name: String) throws {
        let (schema, records) = try sample(name)
        for entity in schema.entities where !entity.isLocal {
            for field in entity.fields {
                guard case .reference(let other) = field.kind, let target = schema[other] else { continue }
                let known = Set((records[other] ?? []).map { $0[target.key]?.plain ?? "" })
                let keys = (records[entity.name] ?? []).compactMap { entity.value(of: field.name, in: $0)?.string }
                // No sample names another one of its own entity.
                let isSet = !keys.isEmpty || other == entity.name
                #expect(isSet && keys.allSatisfy(known.contains), "\(entity.name).\(field.name)")
                if field.required { #expect(keys.count == records[entity.name]?.count) }
            }
        }
    }

    @Test("every field is present, with a value that a local write could have", arguments: schemas)
    func fields(_ name: String) throws {
        let (schema, records) = try sample(name)
        for entity in schema.entities where !entity.isLocal {
            for record in try #require(records[entity.name]) {
                for field in entity.fields {
                    let value = entity.value(of: field.name, in: record) ?? .null
                    #expect(!field.required || value != .null, "\(entity.name).\(field.name)")
                    #expect(fits(value, field), "\(entity.name).\(field.name) \(value.text)")
                }
            }
        }
    }

    @Test("a change time is a number where its field is one")
    func numericChangeTimes() throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example" }
                entities:
                  jobs:
                    fields: { id: { type: string }, changed: { type: integer, index: true } }
                    pull: { path: /jobs, since: { param: after, field: changed, format: epoch } }
                """, file: "s.yaml")
        let records = try #require(SampleGenerator(schema: schema, rows: 5, seed: 3).records()["jobs"])
        #expect(records.allSatisfy { (1_000_000_000..<10_000_000_000).contains($0["changed"]?.integer ?? 0) })
    }

    @Test("two paths of references lead to the same record")
    func sameRecord() throws {
        let records = try sample("propdocs").records
        func byKey(_ entity: String) -> [String: JSONText] {
            Dictionary(uniqueKeysWithValues: (records[entity] ?? []).map { ($0["id"]?.plain ?? "", $0) })
        }
        let (tasks, schedules) = (byKey("maintenance_tasks"), byKey("maintenance_schedules"))
        let services = try #require(records["service_records"]).filter { $0["task_id"] != .null }
        #expect(!services.isEmpty)
        for service in services {
            let schedule = tasks[service["task_id"]?.plain ?? ""]?["schedule_id"]?.plain ?? ""
            #expect(schedules[schedule]?["asset_id"] == service["asset_id"])
        }
    }

    @Test("no time is before the creation of the record or its parent, or after the sample's present")
    func times() throws {
        let records = try sample("propdocs").records
        let assets = Dictionary(uniqueKeysWithValues: (records["assets"] ?? []).map { ($0["id"] ?? .null, $0) })
        for task in try #require(records["maintenance_tasks"]) {
            #expect((task["completed_date"] != .null) == (task["status"] == "completed"))
            let inOrder = ["created_at", "completed_date", "updated_at"].compactMap { task[$0]?.string }
            #expect(inOrder == inOrder.sorted() && inOrder.allSatisfy { $0 <= SampleGenerator.reference.description })
        }
        for service in try #require(records["service_records"]) {
            let asset = try #require(assets[service["asset_id"] ?? .null])
            #expect((asset["created_at"]?.string ?? "") <= (service["created_at"]?.string ?? ""))
        }
    }

    @Test("counts match the records they count")
    func counts() throws {
        let records = try sample("repairminder").records
        let devices = Dictionary(grouping: records["devices"] ?? []) { $0["order_id"] ?? .null }
        for order in try #require(records["orders"]) {
            #expect(order["device_count"]?.integer == devices[order["id"] ?? .null]?.count ?? 0)
        }
    }

    @Test("a count stands in one place, where the schema says")
    func nestedCounts() throws {
        let records = try sample("repairminder-live").records
        let orders = Dictionary(grouping: records["orders"] ?? []) { $0.at(path: "client.id") ?? .null }
        for client in try #require(records["clients"]) {
            #expect(client["order_count"] == nil)
            #expect(client.at(path: "stats.order_count")?.integer == orders[client["id"] ?? .null]?.count ?? 0)
        }
    }

    @Test("a conversation's computed fields match its messages")
    func derived() throws {
        let records = try sample("messages").records
        let messages = Dictionary(grouping: records["messages"] ?? []) { $0["conversation_id"] ?? .null }
        for conversation in try #require(records["conversations"]) {
            let own = messages[conversation["id"] ?? .null] ?? []
            let last = own.max { ($0["timestamp"]?.plain ?? "") < ($1["timestamp"]?.plain ?? "") }
            #expect(conversation["last_message_text"] == last?["text"] ?? .null)
            #expect(conversation["last_message_time"] == last?["timestamp"] ?? .null)
            let unread = own.filter { message in
                message["sender_id"] != "company-1" && message["read_by"]?.elements.contains("company-1") == false
            }
            #expect(conversation["unread_count"]?.integer == unread.count)
            #expect(own.allSatisfy { ["sent", "delivered", "read"].contains($0["status"]) })
        }
    }

    @Test("the author of a message is a member of its conversation")
    func participants() throws {
        let records = try sample("messages").records
        let conversations = try #require(records["conversations"])
        for conversation in conversations {
            let people = conversation["participant_ids"]?.elements ?? []
            #expect(people.count > 1 && Set(people).count == people.count)
            #expect(conversation["is_group"]?.boolean == (people.count > 2))
            for message in records["messages"] ?? [] where message["conversation_id"] == conversation["id"] {
                #expect(people.contains(message["sender_id"] ?? .null))
            }
        }
    }

    private func fits(_ value: JSONText, _ field: Field) -> Bool {
        guard value != .null else { return true }
        switch field.kind {
        // A value in another record's object is as in that record.
        case .string, .reference: return value.kind == .string || field.source != nil
        case .integer: return value.integer != nil
        case .number, .money: return value.kind == .number
        case .boolean: return value.kind == .boolean
        case .time: return value.string.flatMap { Timestamp(iso8601: $0) } != nil
        case .date: return value.isDay
        case .object: return value.kind == .object
        case .list: return value.kind == .array
        case .enum(let values): return values.contains { $0.value == value.string }
        }
    }
}
