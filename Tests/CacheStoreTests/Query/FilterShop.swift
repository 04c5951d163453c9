import EntitySchema
import JSONText
import SQLiteStore
import TestSupport

@testable import CacheStore

/// Orders and their clients, with a field for each kind of filter.
enum FilterShop {
    static let schema = """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page }
        entities:
          clients:
            title: "{name}"
            fields:
              id: { type: string }
              name: { type: string, search: true }
              email: { type: string, index: true }
              phone: { type: string, search: fragments }
              notes: { type: string }
              passcode: { type: string, secret: true }
              home: { type: object }
            many:
              orders: { of: orders, by: client_id }
            pull: { path: /clients }
            push:
              update: { call: "PATCH /clients/{id}" }
          orders:
            sort: -created_at
            fields:
              id: { type: string }
              number: { type: string, index: true }
              status: { type: enum, index: true, values: { open: Open, ready: Ready } }
              total: { type: money, index: true }
              paid: { type: boolean }
              notes: { type: string }
              tags: { type: list }
              address: { type: object }
              client_id: { type: reference, to: clients, index: true }
              keeper_id: { type: reference, to: clients }
              created_at: { type: time, index: true }
            pull: { path: /orders }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
        """

    static let clients = #"""
        [{"id":"c1","name":"Ada Smith","email":"ada@example.org","phone":"+44 7700 900-123","notes":"100% sure","home":{"city":"Leeds"}},
         {"id":"c2","name":"Zoë Ann Smithers","email":"Zoe@example.org","phone":"07700 900456","notes":null},
         {"id":"c3","name":"Smith, John","email":null,"phone":null,"notes":"a_b"}]
        """#

    static let orders = #"""
        [{"id":"a","number":"RM-10","status":"ready","total":150,"paid":true,"notes":"Cracked screen","tags":["new",5,true],
          "address":{"city":"London","zip":10115,"geo":{"lat":51.5},"vip":true,"none":null,"tags":["x"]},"client_id":"c1","created_at":"2026-01-01"},
         {"id":"b","number":"rm-11","status":"open","total":50,"paid":false,"notes":"cracked back","tags":["old"],
          "address":{"city":"lond%n","zip":"10115"},"client_id":"c2","created_at":"2026-01-02"},
         {"id":"c","number":"RX-1","status":"ready","total":null,"paid":null,"notes":null,"tags":[],
          "address":null,"client_id":"c3","created_at":"2026-01-03"},
         {"id":"d","number":null,"status":null,"total":200,"paid":true,"notes":"Fine, really","tags":null,
          "client_id":null,"created_at":"2026-01-04"}]
        """#

    static func cache() async throws -> TestCache {
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull("clients", clients)
        _ = try await cache.pull("orders", orders)
        return cache
    }
}

extension FilterCondition {
    /// A comparison of what is at `path`, with dots.
    static func test(_ path: String, _ operation: FilterComparison.Operation, _ values: String...) -> FilterCondition {
        .comparison(
            FilterComparison(
                parameter: path, path: path.split(separator: ".").map(String.init), operation: operation,
                values: values))
    }
}

extension TestCache {
    /// The keys of the records that meet a condition, in the order of the keys.
    func keys(_ entity: String, where condition: FilterCondition) throws -> String {
        var query = ListQuery(entity: entity, sort: [SortTerm(text: "id")], limit: 1000)
        query.filters = [condition]
        return try keys(query).joined(separator: " ")
    }
}
