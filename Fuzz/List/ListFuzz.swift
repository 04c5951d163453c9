import CacheStore
import EntitySchema
import FuzzedCache
import JSONText
import SQLiteStore
import SocketServer

@testable import LocalAPIServer

/// Requests a list with an arbitrary query: filters, orders, fields, search words, pages.
///
/// The request must be refused as the caller's error or answered. Page by page, the list must be the same as in one
/// piece, with no record repeated or missing.
struct ListFuzz: Sendable {
    private let cache: TemporaryCache

    init() {
        do { cache = try FilledCache.made() } catch { fatalError("cannot create the cache: \(error)") }
    }

    func run(_ input: [UInt8]) throws {
        let request = Request(method: "GET", path: "/v1/orders", query: String(decoding: input, as: UTF8.self))
        guard let entity = cache.schema["orders"] else { fatalError("the schema has no orders") }
        do {
            let parameters = try QueryParameters(request)
            var mistakes = Mistakes()
            var query = parameters.listQuery(of: entity, as: .page, &mistakes)
            try mistakes.throwAny()
            let include = try parameters.inclusions(of: entity, in: cache.schema)
            let asked = try cache.store.list(query, include: include)
            _ = try JSONText(asked.records)
            guard query.cursor == nil else { return }
            query.limit = FilledCache.records
            query.fields = []
            query.count = true
            let whole = try cache.store.list(query)
            let keys = try Self.keys(whole)
            precondition(whole.total == keys.count, "counted \(whole.total ?? -1), listed \(keys.count)")
            precondition(Set(keys).count == keys.count, "a record is listed twice")
            query.limit = 7
            let listed = try pages(query)
            precondition(listed == keys, "the pages differ from the whole list")
        } catch let problem as Problem {
            precondition((400..<500).contains(problem.status), "a caller's error was answered with \(problem.status)")
        } catch CacheError.badQuery, CacheError.invalid, CacheError.notFound {
            return
        }
    }

    private func pages(_ first: ListQuery) throws -> [String] {
        var query = first
        var keys: [String] = []
        repeat {
            let page = try cache.store.list(query)
            keys += try Self.keys(page)
            query.cursor = page.next
            precondition(keys.count <= FilledCache.records, "the pages do not end")
        } while query.cursor != nil
        return keys
    }

    private static func keys(_ page: ListPage) throws -> [String] {
        try JSONText(page.records).elements.compactMap { $0["id"]?.string }
    }
}

private enum Fuzzing {
    static let target = ListFuzz()
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    fuzzing(data, count) { try Fuzzing.target.run($0) }
}
