import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Each child is given its parent's key: one long key and many short children would take hundreds of times their answer.
@Suite("Children of parents with long keys")
struct LongParentKeyTests {
    private func reader() throws -> ChildReader {
        let test = try TestPull("detail: { into: messages, embedded: messages }")
        let orders = try #require(test.schema["orders"])
        return ChildReader(parent: orders, detail: try #require(orders.pull?.details.first))
    }

    private func page(_ key: String, children: Int) throws -> JSONText {
        let list = Array(repeating: "{}", count: children).joined(separator: ",")
        return try JSONText(parsing: #"[{"id":"\#(key)","messages":[\#(list)]},{"id":"b","messages":[{"id":"m"}]}]"#)
    }

    @Test("they are read as long as their keys take no more than an answer may")
    func some() throws {
        let (families, problem) = try reader().embedded(in: page(String(repeating: "k", count: 490), children: 10_000))
        #expect(families.map(\.children.count) == [10_000, 1])
        #expect(problem == nil)
    }

    @Test("beyond that they are left out, and the problem says so in a few words")
    func many() throws {
        let (families, problem) = try reader().embedded(in: page(String(repeating: "k", count: 490), children: 100_000))
        #expect(families.isEmpty)
        #expect(try #require(problem).contains("page_size of orders"))
        #expect(try #require(problem).count < 1000)
    }

    @Test("a record whose key cannot be one is no parent")
    func unusable() throws {
        let (families, problem) = try reader().embedded(in: page(String(repeating: "k", count: 5000), children: 10))
        #expect(families.map(\.key) == ["b"])
        #expect(problem == nil)
    }

    @Test("a parent without a list is named by its key")
    func problem() throws {
        let records = try JSONText(parsing: #"[{"id":"a","messages":7}]"#)
        #expect(try #require(reader().embedded(in: records).problem).hasPrefix("orders/a holds no list"))
    }
}
