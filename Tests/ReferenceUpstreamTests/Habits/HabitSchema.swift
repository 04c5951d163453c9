import EntitySchema

extension TestSchema {
    /// Boards with a field of every type, and their cards.
    static func boards(paging: String = "page_size: 3, total: total", ids: String = "string") throws -> EntitySchema {
        try EntitySchema(yaml: boardsText(paging: paging, ids: ids), file: "boards.yaml")
    }

    private static func boardsText(paging: String, ids: String) -> String {
        """
        schema: boards
        upstream:
          base_url: https://boards.example.org
          account: { path: /me, id: id }
          probe: /ping
          error_message: error
          pagination: { style: page, page: page, size: per, \(paging) }
          records: data
          idempotency_header: Idempotency-Key
        entities:
          boards:
            title: "{title}"
            fields:
              id: { type: \(ids) }
              title: { type: string }
              note: { type: string }
              price: { type: money }
              weight: { type: number }
              size: { type: integer }
              open: { type: boolean }
              due: { type: time }
              tags: { type: list }
              total: { type: money, from: totals.total }
              updated_at: { type: time }
            many:
              cards: { of: cards, by: board_id, on_delete: cascade }
            pull: { path: /boards, since: { param: since, field: updated_at }, deleted: deleted_at }
            push:
              create: { call: POST /boards }
              update: { call: "PUT /boards/{id}" }
              delete: { call: "DELETE /boards/{id}" }
          cards:
            fields:
              id: { type: \(ids) }
              board_id: { type: reference, to: boards }
              text: { type: string }
            pull: { path: /cards }
            push:
              create: { call: POST /cards }
              update: { call: "PATCH /cards/{id}" }
              delete: { call: "DELETE /cards/{id}" }
        """
    }
}
