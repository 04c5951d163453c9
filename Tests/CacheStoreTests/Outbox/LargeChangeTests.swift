import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Changes of large records")
struct LargeChangeTests {
    private let now = TestCache.now

    @Test("no more changes are read at once than fit into memory, and always one")
    func bounded() async throws {
        let cache = try TestCache()
        let text = String(repeating: "x", count: 1 << 20)
        let records = (1...9).map { "{\"id\":\"\($0)\",\"notes\":\"n\",\"more\":\"\(text)\"}" }
        _ = try await cache.pull("orders", "[\(records.joined(separator: ","))]")
        let edit = try JSONText(parsing: #"{"notes":"mine"}"#)
        for key in 1...9 { try await cache.store.update("orders", key: "\(key)", body: edit, at: now) }
        func keys(_ bytes: Int) throws -> [String] {
            try cache.store.readyChanges(limit: 9, atMost: bytes, at: now).map(\.key)
        }
        #expect(try keys(.max) == (1...9).map(String.init))
        #expect(try keys(5 << 20) == ["1", "2"])
        #expect(try keys(1) == ["1"])
    }
}
