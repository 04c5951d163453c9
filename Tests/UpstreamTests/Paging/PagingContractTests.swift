import EntitySchema
import JSONText
import ReferenceUpstream
import Testing
import Upstream

@Suite("Paging in every style, with and without sockets")
struct PagingContractTests {
    private func with(
        _ way: UpstreamFixture, _ style: PagingContract.Style, pull: String = "", records: [JSONText]? = nil,
        settings: ReferenceUpstream.Settings = ReferenceUpstream.Settings(),
        _ body: (PagingContract, ReferenceUpstream) async throws -> Void
    ) async throws {
        let schema = try PagingContract.schema(style, pull: pull)
        let entity = try #require(schema["orders"])
        let rows = try records ?? PagingContract.records()
        try await way.with(schema, records: ["orders": rows], settings: settings) { upstream, reference in
            try await body(PagingContract(upstream: upstream, entity: entity, style: style), reference)
        }
    }

    private func keys(_ pages: [Page]) -> [String] {
        pages.flatMap(\.records.elements).map { $0["id"]?.plain ?? "" }
    }

    @Test("a list is read to its end", arguments: UpstreamFixture.allCases, PagingContract.styles)
    func whole(_ way: UpstreamFixture, _ style: PagingContract.Style) async throws {
        try await with(way, style) { contract, _ in try await contract.run() }
    }

    @Test("an empty list is one empty page", arguments: UpstreamFixture.allCases, PagingContract.styles)
    func empty(_ way: UpstreamFixture, _ style: PagingContract.Style) async throws {
        try await with(way, style, records: []) { contract, _ in
            let pages = try await contract.pages()
            #expect(pages.map(\.count) == [0])
        }
    }

    @Test(
        "a list of changes is read to its end, oldest first", arguments: UpstreamFixture.allCases, PagingContract.styles
    )
    func changes(_ way: UpstreamFixture, _ style: PagingContract.Style) async throws {
        let pull = "since: { param: updated_since, field: updated_at }"
        try await with(way, style, pull: pull) { contract, _ in
            let since = QueryItem(name: "updated_since", value: "2026-01-03T00:00:00Z")
            let pages = try await contract.pages(since: since)
            #expect(keys(pages) == ["r6", "r2", "r5", "r1", "r4"])
        }
    }

    @Test(
        "changes are asked for in each format of a time", arguments: UpstreamFixture.allCases,
        TimeFormat.words + ["yyyy-MM-dd HH:mm:ss", "dd/MM/yyyy HH:mm"])
    func formats(_ way: UpstreamFixture, _ format: String) async throws {
        let value = "value: \"(updated>='{$since}')\""
        let pull = "since: { param: filter, \(value), format: \"\(format)\", field: updated_at }"
        try await with(way, PagingContract.styles[0], pull: pull) { contract, _ in
            guard case .since(let parameter, _) = contract.entity.pull?.mode else { throw CancellationError() }
            let pages = try await contract.pages(since: parameter.item("2026-01-03T00:00:00Z"))
            #expect(keys(pages).suffix(5) == ["r6", "r2", "r5", "r1", "r4"])
            #expect(keys(pages).count == (format == "date" ? 6 : 5))
        }
    }

    @Test("a list by change time is read newest first", arguments: UpstreamFixture.allCases, PagingContract.styles)
    func newestFirst(_ way: UpstreamFixture, _ style: PagingContract.Style) async throws {
        let pull = "mode: newest_first\n      changed_at: updated_at\n      query: { sort: -updated_at }"
        try await with(way, style, pull: pull) { contract, _ in
            let pages = try await contract.pages()
            #expect(keys(pages) == ["r4", "r1", "r5", "r2", "r6", "r3", "r0"])
        }
    }

    /// The styles in which the upstream returns the next position.
    private static let marked = PagingContract.styles.filter { style in
        ["cursor", "link", "next_url"].contains { style.pagination.hasPrefix("style: \($0)") }
    }

    @Test(
        "a next position stays valid while records are added and deleted",
        arguments: UpstreamFixture.allCases, marked)
    func moving(_ way: UpstreamFixture, _ style: PagingContract.Style) async throws {
        try await with(way, style) { contract, reference in
            let pull = try #require(contract.entity.pull)
            let first = try await contract.upstream.page(PageRequest(path: pull.path, list: pull.list))
            let size = try #require(style.pageSize)
            for number in 0..<size { try reference.delete("orders", "r\(number)") }
            try reference.create(.object(["id": "new"]), in: "orders")
            var rest: [Page] = []
            var position = first.next
            while let next = position {
                let page = try await contract.upstream.page(
                    PageRequest(path: pull.path, list: pull.list, position: next))
                rest.append(page)
                position = page.next
            }
            #expect(keys(rest) == (size..<PagingContract.count).map { "r\($0)" } + ["new"])
        }
    }

    /// The styles that end independently of the number of records on a page.
    private static let counted = PagingContract.styles.filter { style in
        guard !style.pagination.hasSuffix("{ last: id }") else { return false }
        return style.hasTotal || style.pagination.contains("more:")
            || ["cursor", "link", "header"].contains { style.pagination.hasPrefix("style: \($0)") }
    }

    @Test(
        "an upstream that returns fewer records per page than requested is read to its end",
        arguments: UpstreamFixture.allCases, counted)
    func capped(_ way: UpstreamFixture, _ style: PagingContract.Style) async throws {
        var settings = ReferenceUpstream.Settings()
        settings.largestPage = 1
        try await with(way, style, settings: settings) { contract, _ in
            var entity = contract.entity
            entity.pull?.list.pageSize = 100
            try await PagingContract(upstream: contract.upstream, entity: entity, style: style).run()
        }
    }
}
