import EntitySchema
import JSONText
import Testing

@testable import repairminder_sync

@Suite("What the demo prints to try")
struct DemoTourTests {
    @Test("values and ids with quotes stay one word of the shell")
    func quotes() throws {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream: { pagination: { style: page, page: page, size: per_page, page_size: 10 } }
                entities:
                  orders:
                    fields:
                      id: { type: string }
                      state: { type: enum, values: { open: Open, "won't fix": Wontfix } }
                    pull: { path: /orders, records: orders }
                    push: { update: { call: "PATCH /orders/{id}" } }
                """, file: "shop.yaml")
        let tour = try #require(DemoTour(of: schema))
        let record = try JSONText(parsing: #"{"id":"it's","state":"won't fix"}"#)
        let commands = tour.commands(for: record, api: "a", upstream: "b")
        #expect(commands[1].contains("state=won%27t%20fix") && commands[1].hasSuffix("{id, state}'"))
        #expect(commands[2].contains(#"'{"state":"won'\''t fix"}'"#))
        #expect(commands[4].contains(#"== "it'\''s")"#))
    }
}
