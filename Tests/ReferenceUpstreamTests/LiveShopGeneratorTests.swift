import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

@Suite("The sample shop in the live shape")
struct LiveShopGeneratorTests {
    private let schema: EntitySchema
    private let shop = LiveShopGenerator(orders: 200, seed: 3).records()

    init() throws {
        schema = try TestSchema.live()
    }

    private func values(_ entity: String, _ path: String) -> [JSONText] {
        (shop[entity] ?? []).compactMap { $0.at(path: path) }
    }

    @Test("a seed gives the same bytes each time, another seed gives others")
    func deterministic() {
        #expect(LiveShopGenerator(orders: 200, seed: 3).records() == shop)
        #expect(LiveShopGenerator(orders: 200, seed: 4).records() != shop)
    }

    @Test("every reference resolves, and enum values are valid")
    func references() throws {
        let keys = shop.mapValues { Set($0.compactMap { $0["id"]?.string }) }
        for entity in schema.entities {
            let records = try #require(shop[entity.name])
            #expect(keys[entity.name]?.count == records.count && !records.isEmpty)
            for (field, record) in entity.fields.flatMap({ field in records.map { (field, $0) } }) {
                guard let value = entity.value(of: field.name, in: record), value != .null else { continue }
                switch field.kind {
                case .reference(let other): #expect(keys[other]?.contains(value.plain) == true, "\(field.name)")
                case .enum(let known): #expect(known.contains { $0.value == value.string }, "\(value.text)")
                default: break
                }
            }
        }
    }

    @Test("money and order numbers are sometimes numbers and sometimes text")
    func mixed() {
        for (entity, path) in [("orders", "order_total"), ("orders", "order_number"), ("clients", "total_spend")] {
            #expect(Set(values(entity, path).map(\.kind)) == [.number, .string], "\(entity).\(path)")
        }
    }

    @Test("booleans are true or 1, and times come with and without milliseconds")
    func forms() {
        #expect(Set(values("devices", "data_backup_offered").map(\.text)) == ["true", "1"])
        #expect(Set(values("orders", "updated_at").map { $0.plain.count }) == [20, 24])
        #expect(values("orders", "updated_at").allSatisfy { Timestamp(iso8601: $0.plain) != nil })
    }

    @Test("devices have no change time")
    func devices() {
        #expect(values("devices", "updated_at").isEmpty)
    }

    @Test("every status that can change has transitions in the workflow, to statuses of the schema")
    func workflow() throws {
        let field = try #require(schema["devices"]?[field: "status"])
        guard case .enum(let known) = field.kind else {
            Issue.record("expected an enum")
            return
        }
        let all = Set(known.map(\.value))
        let steps = LiveShopGenerator.workflows.map(\.steps)
        let moving = Set(steps.flatMap(\.keys))
        #expect(all.isSuperset(of: moving) && all.isSuperset(of: steps.flatMap { $0.values.joined() }))
        #expect(all.subtracting(moving) == ["collected", "despatched", "added_to_buyback"])
    }
}
