import EntitySchema
import JSONText
import TestSupport
import Testing

/// Compares all records of the daemon with all of the upstream.
struct BothSides {
    let shop: Shop
    let schema: EntitySchema

    init(of shop: Shop, schema name: String) throws {
        self.shop = shop
        schema = try ProjectFiles.schema(name)
    }

    /// Each record is there and here, once, with the same value in every field that the schema knows.
    func expectEqual() async throws {
        for entity in schema.entities where !entity.isLocal {
            let there = try await shop.admin("records/\(entity.name)")
            let here = try await shop.all(entity.name)
            func keys(_ records: [JSONText]) -> [String] { records.compactMap { $0[entity.key]?.plain }.sorted() }
            #expect(keys(here) == keys(there), "\(entity.name)")
            let known = Dictionary(here.map { ($0[entity.key]?.plain ?? "", $0) }) { first, _ in first }
            for record in there {
                let key = record[entity.key]?.plain ?? ""
                guard let own = known[key] else { continue }
                try await expectEqual(entity, key, own, record)
            }
        }
    }

    private func expectEqual(_ entity: Entity, _ key: String, _ here: JSONText, _ there: JSONText) async throws {
        let embedded = entity.pull?.details.flatMap(\.list.records.paths) ?? []
        for field in entity.fields where !field.isDerivedHere && !embedded.contains(field.name) {
            let theirs = entity.value(of: field.name, in: there)
            var ours = entity.value(of: field.name, in: here)
            if field.secret {
                guard theirs ?? .null != .null else { continue }
                let path = "/v1/\(entity.name)/\(key)?reveal=\(field.name)"
                ours = try await shop.call("GET", path).body[field.name]
            }
            #expect(ours?.text ?? "null" == theirs?.text ?? "null", "\(entity.name)/\(key): \(field.name)")
        }
        #expect(here.at(path: "_sync.state") == "synced", "\(entity.name)/\(key)")
    }
}

extension Shop {
    /// Every record of a list of the local API.
    func all(_ list: String) async throws -> [JSONText] {
        var records: [JSONText] = []
        var cursor = ""
        repeat {
            let page = try await call("GET", "/v1/\(list)?limit=1000\(cursor)").body
            records += page["data"]?.elements ?? []
            cursor = page["next"]?.string.map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        return records
    }
}
