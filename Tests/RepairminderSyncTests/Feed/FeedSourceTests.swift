import JSONText
import LocalAPI
import TestSupport
import Testing

@testable import repairminder_sync

/// A compromised daemon must not take the memory of a feed, which can run elsewhere and as another user.
@Suite struct FeedSourceTests {
    private func orders() throws -> FeedEntity {
        try #require(FeedEntity(try JSONText(parsing: #"{"name":"orders","key":"id","fields":[]}"#)))
    }

    /// A daemon that names a next page each time.
    private func endless(_ page: String) -> FeedSource {
        let calls = Counter()
        let client = LocalAPIClient { (_) throws(LocalAPIError) in
            LocalAPIResponse(status: 200, body: Array(#"{"data":[\#(page)],"next":"\#(calls.next())"}"#.utf8))
        }
        return FeedSource(client: client, entities: [], largestBatch: 1 << 20)
    }

    @Test(
        "the records of a batch that have no end, or take too much memory, are left",
        arguments: ["", #"{"id":"a"}"#, #"{"id":"\#(String(repeating: "a", count: 500_000))"}"#])
    func endlessRecords(_ page: String) async throws {
        let orders = try orders()
        await #expect(throws: LocalAPIError.self) {
            _ = try await endless(page).records(of: orders, (0..<1000).map { "\($0)" })
        }
    }

    @Test("more changes than were asked for are refused")
    func manyChanges() async throws {
        let entries = Array(repeating: #"{"id":"a"}"#, count: 1001).joined(separator: ",")
        let client = LocalAPIClient { (_) throws(LocalAPIError) in
            LocalAPIResponse(status: 200, body: Array(#"{"data":[\#(entries)],"next":1,"epoch":"e"}"#.utf8))
        }
        await #expect(throws: LocalAPIError.self) { _ = try await FeedSource(client: client, entities: []).end() }
    }
}
