import CacheStore

/// A shop whose clients, devices and notes can be searched.
enum SearchShop {
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
              notes: { type: string, search: words }
              phone: { type: string, search: fragments }
              rank: { type: string, index: true, from: extra.rank, search: true }
              pin: { type: string, secret: true }
            many:
              devices: { of: devices, by: client_id, on_delete: cascade }
            pull: { path: /clients, deleted: deleted_at, mode: full }
            push:
              create: { call: POST /clients }
              update: { call: "PATCH /clients/{id}" }
              delete: { call: "DELETE /clients/{id}" }
          devices:
            title: "{number}"
            title_else: model
            fields:
              id: { type: string }
              client_id: { type: reference, to: clients, index: true }
              number: { type: integer }
              pin: { type: string, secret: true }
              model: { type: string, search: true }
              serial: { type: string, search: fragments }
            pull: { path: /devices, deleted: deleted_at }
            push:
              create: { call: POST /devices }
          parts:
            fields:
              id: { type: string }
              code: { type: string, search: fragments }
            pull: { path: /parts }
          colours:
            fields:
              id: { type: string }
            pull: { path: /colours }
        """
}

extension TestCache {
    /// The keys of the records in a list with `q`, sorted.
    func found(_ text: String, in entity: String = "clients") async throws -> [String] {
        try await store.catchUpSearch()
        var query = ListQuery(entity: entity, limit: 1000)
        query.search = try SearchQuery(text)
        return try keys(query).sorted()
    }

    func hits(_ text: String, in entities: [String]? = nil, limit: Int = 20) async throws -> [SearchHit] {
        try await store.catchUpSearch()
        return try await store.search(SearchQuery(text), entities: entities, limit: limit).hits
    }
}
