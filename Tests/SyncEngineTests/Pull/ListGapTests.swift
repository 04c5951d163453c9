import EntitySchema
import JSONText
import SchemaDrift
import Testing

@testable import CacheStore
@testable import SyncEngine

@Suite("A list that disagrees with itself")
struct ListGapTests {
    @Test("it is counted up to enough, whatever was noted before")
    func counted() throws {
        let gap = try #require(ListGap(total: 1, repeated: []))
        #expect(gap.noted(after: nil) == (text: "1 1/0/0", times: 1))
        #expect(gap.noted(after: "2 1/0/0") == (text: "3 1/0/0", times: 3))
        #expect(gap.noted(after: "2 2/0/0").times == 1)
        #expect(gap.noted(after: "\(Int.max) 1/0/0").times == ListGap.enough)
    }

    @Test("one that says that it lacks records is counted whatever its total is")
    func partial() throws {
        let first = try #require(ListGap(total: 3, repeated: [], isPartial: true))
        let second = try #require(ListGap(total: 5, repeated: [], isPartial: true))
        #expect(second.noted(after: first.noted(after: nil).text).times == 2)
    }

    private func page(_ numbers: Range<Int>) -> String {
        JSONText.array(numbers.map { .object(["id": .string("k\($0)")]) }).text
    }

    @Test("with many records twice and a total that stays, it is to be sorted")
    func shuffled() async throws {
        let test = try TestPull()
        try test.upstream.serve([page(0..<30)], total: 30)
        try await test.pull()
        let pages = try [page(0..<15), page(1..<16)].map { try JSONText(parsing: $0) }
        for moves in [false, true] {
            test.upstream.answering { request in
                .success(PagedUpstream.page(pages, request.position, moves && request.position == nil ? 31 : 30))
            }
            try await test.pull(full: true)
            #expect(try test.cursor.heldDeletions == 14)
            #expect(try test.cursor.held?.contains("sort it by a value that no two records share") == !moves)
            #expect(try test.store.drift().contains { $0.kind == .list && $0.found.contains("sort it by") })
        }
        try test.upstream.serve([page(0..<30)], total: 30)
        try await test.pull(full: true)
        #expect(try !test.store.drift().contains { $0.kind == .list })
    }
}
