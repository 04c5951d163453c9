import EntitySchema
import JSONText
import Testing
import Upstream

/// The contract of every upstream for reading a list, in every paging style.
///
/// Uses only the protocol, so it works for any implementation: set it up with `schema(_:)` and `records`, and
/// call `run` once for each of `styles`.
struct PagingContract {
    /// One paging style, as in a schema's `pagination`.
    struct Style: Sendable, CustomTestStringConvertible {
        var pagination: String
        /// The records on each page; nil when one response has them all.
        var pageSize: Int?
        var hasTotal: Bool

        var testDescription: String { pagination }
    }

    static let styles = [
        Style(pagination: "style: page, total: meta.total, pages: meta.pages", pageSize: 3, hasTotal: true),
        Style(pagination: "style: page, page: p, size: per, total: [meta.total, total]", pageSize: 2, hasTotal: true),
        Style(pagination: "style: page", pageSize: 3, hasTotal: false),
        Style(pagination: "style: page, total: { header: X-Total-Count }", pageSize: 2, hasTotal: true),
        Style(pagination: "style: offset, total: { header: X-Total-Count }", pageSize: 2, hasTotal: true),
        Style(pagination: "style: offset, total: meta.total", pageSize: 2, hasTotal: true),
        Style(pagination: "style: offset, offset: skip", pageSize: 3, hasTotal: false),
        Style(pagination: "style: offset, offset: from, first: 1", pageSize: 3, hasTotal: false),
        Style(pagination: "style: cursor, next: meta.next", pageSize: 3, hasTotal: false),
        Style(
            pagination: "style: cursor, cursor: after, next: meta.next, total: meta.total", pageSize: 2, hasTotal: true),
        Style(pagination: "style: link", pageSize: 3, hasTotal: false),
        Style(pagination: "style: link, total: meta.total", pageSize: 2, hasTotal: true),
        Style(pagination: "style: header, header: Next-Page", pageSize: 3, hasTotal: false),
        Style(pagination: "style: next_url, next: meta.next, total: meta.total", pageSize: 3, hasTotal: true),
        Style(pagination: "style: page, first: 0, pages: meta.pages", pageSize: 3, hasTotal: false),
        Style(pagination: "style: page, first: 0, total: meta.total", pageSize: 2, hasTotal: true),
        Style(pagination: "style: page, more: meta.has_more", pageSize: 3, hasTotal: false),
        Style(pagination: "style: offset, more: meta.has_more", pageSize: 2, hasTotal: false),
        Style(pagination: "style: offset, more: { at: meta.end, is: false }", pageSize: 2, hasTotal: false),
        Style(pagination: "style: cursor, next: meta.next, more: meta.has_more", pageSize: 3, hasTotal: false),
        Style(
            pagination: "style: cursor, cursor: starting_after, next: { last: id }, more: has_more", pageSize: 2,
            hasTotal: false),
        Style(pagination: "style: cursor, next: { last: id }", pageSize: 3, hasTotal: false),
        Style(pagination: "style: header, header: X-Next, url: true", pageSize: 2, hasTotal: false),
        Style(pagination: "style: single", pageSize: nil, hasTotal: false),
    ]

    static let count = 7

    /// Seven unsorted records.
    static func records() throws -> [JSONText] {
        try (0..<count).map { number in
            let day = (number * 5) % count + 1
            return try JSONText(
                parsing: #"{"id":"r\#(number)","total":\#(number).50,"updated_at":"2026-01-0\#(day)T00:00:00.000Z"}"#)
        }
    }

    static func schema(_ style: Style, pull: String = "") throws -> EntitySchema {
        let size = style.pageSize.map { ", page_size: \($0)" } ?? ""
        return try EntitySchema(
            yaml: """
                schema: paging
                upstream:
                  base_url: http://localhost
                  records: [data.items, items]
                  pagination: { style: page, page_size: 500 }
                entities:
                  orders:
                    fields: { id: { type: string }, total: { type: money }, updated_at: { type: time } }
                    pull:
                      path: /orders
                      pagination: { \(style.pagination)\(size) }
                      \(pull)
                """, file: "paging.yaml")
    }

    let upstream: any Upstream
    let entity: Entity
    let style: Style

    /// Every page of the list, each requested with the position from the page before.
    func pages(since: QueryItem? = nil) async throws -> [Page] {
        let pull = try #require(entity.pull)
        var pages: [Page] = []
        var position: String?
        repeat {
            let page = try await upstream.page(
                PageRequest(path: pull.path, query: pull.query, since: since, list: pull.list, position: position))
            pages.append(page)
            position = page.next
            try #require(pages.count <= Self.count + 1, "the list does not end")
        } while position != nil
        return pages
    }

    func run() async throws {
        let pages = try await pages()
        let expected = try Self.records()
        #expect(pages.flatMap(\.records.elements) == expected, "each record once, in order, byte for byte")
        #expect(pages.allSatisfy { $0.count == $0.records.elements.count })
        #expect(pages.map(\.total) == pages.map { _ in style.hasTotal ? Self.count : nil })
        guard let size = style.pageSize else { return #expect(pages.count == 1) }
        #expect(pages.dropLast().allSatisfy { $0.count == size })
    }
}
