import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

@Suite("The sample shop")
struct ShopGeneratorTests {
    @Test("a seed gives the same bytes each time, another seed gives others")
    func deterministic() {
        let first = ShopGenerator(orders: 60, seed: 7).records()
        #expect(ShopGenerator(orders: 60, seed: 7).records() == first)
        #expect(ShopGenerator(orders: 60, seed: 8).records() != first)
    }

    @Test(
        "rows are orders, and the rest is in proportion",
        arguments: [(500, [200, 500, 700, 150, 400]), (1000, [400, 1000, 1400, 300, 800]), (1, [1, 1, 1, 1, 1])])
    func proportions(_ orders: Int, _ counts: [Int]) {
        let shop = ShopGenerator(orders: orders).records()
        #expect(["clients", "orders", "devices", "tickets", "ticket_messages"].map { shop[$0]?.count ?? 0 } == counts)
    }

    @Test("every key is unique and every reference resolves")
    func references() throws {
        let schema = try TestSchema.repairminder()
        let shop = ShopGenerator(orders: 200, seed: 3).records()
        let keys = shop.mapValues { Set($0.compactMap { $0["id"]?.string }) }
        for entity in schema.entities {
            let records = try #require(shop[entity.name])
            #expect(keys[entity.name]?.count == records.count)
            for field in entity.fields {
                guard case .reference(let other) = field.kind else { continue }
                for record in records {
                    guard let key = record[field.name]?.string else { continue }
                    #expect(keys[other]?.contains(key) == true, "\(entity.name).\(field.name) \(key)")
                }
            }
        }
    }

    @Test("every record has all the schema's fields in order, and valid enum values")
    func fields() throws {
        let schema = try TestSchema.repairminder()
        let shop = ShopGenerator(orders: 200, seed: 4).records()
        for entity in schema.entities {
            for record in try #require(shop[entity.name]) {
                #expect(record.members.map(\.key) == entity.fields.filter { !$0.isComputedOnReading }.map(\.name))
                for field in entity.fields {
                    guard case .enum(let values) = field.kind else { continue }
                    #expect(values.map(\.value).contains(record[field.name]?.string ?? ""))
                }
            }
        }
    }

    @Test("counts, sums and times match their records")
    func consistency() throws {
        let shop = ShopGenerator(orders: 300, seed: 5).records()
        let devices = Dictionary(grouping: shop["devices"] ?? []) { $0["order_id"]?.string ?? "" }
        let orders = Dictionary(grouping: shop["orders"] ?? []) { $0["client_id"]?.string ?? "" }
        let messages = Dictionary(grouping: shop["ticket_messages"] ?? []) { $0["ticket_id"]?.string ?? "" }
        for order in shop["orders"] ?? [] {
            let own = try #require(devices[order["id"]?.string ?? ""])
            #expect(order["device_count"]?.integer == own.count)
            let sum = try own.reduce(0) { $0 + (try pence($1["price"])) }
            let total = try pence(order["total"])
            #expect(total == (order["status"] == "cancelled" ? 0 : sum))
        }
        for client in shop["clients"] ?? [] {
            let own = orders[client["id"]?.string ?? ""] ?? []
            #expect(client["order_count"]?.integer == own.count)
            let paid = try own.reduce(0) { $0 + (try pence($1["total"])) - (try pence($1["balance"])) }
            #expect(try pence(client["total_spent"]) == paid)
        }
        for ticket in shop["tickets"] ?? [] {
            let own = messages[ticket["id"]?.string ?? ""] ?? []
            #expect(ticket["message_count"]?.integer == own.count)
            #expect(ticket["last_message_at"]?.string == own.compactMap { $0["created_at"]?.string }.max())
        }
    }

    @Test("no change is before its creation or after the shop's present")
    func times() throws {
        for record in ShopGenerator(orders: 200, seed: 6).records().values.joined() {
            let created = try #require(record["created_at"]?.string.flatMap(Timestamp.init(iso8601:)))
            let updated = record["updated_at"]?.string.flatMap(Timestamp.init(iso8601:)) ?? created
            #expect(created <= updated && updated <= ShopGenerator.reference)
        }
    }

    /// Money is written with exactly two decimals.
    private func pence(_ value: JSONText?) throws -> Int {
        let parts = try #require(value).text.split(separator: ".")
        #expect(parts.count == 2 && parts.last?.count == 2)
        return try #require(Int(parts.joined()))
    }
}
