import CacheStore
import EntitySchema
import Foundation
import FuzzedCache
import JSONText
import SQLiteStore

/// Continues lists from forged cursors, including ones with a valid mark.
///
/// The first byte chooses the list. The rest is the cursor's text, or replaces the values in a real cursor. The request
/// must be refused as the caller's error or answered with JSON.
struct CursorFuzz: Sendable {
    private static let sorts = ["", "total", "-total", "status,-total", "-updated_at", "notes,done,-pieces"]

    private let cache: TemporaryCache

    init() {
        do { cache = try FilledCache.made() } catch { fatalError("cannot create the cache: \(error)") }
    }

    func run(_ input: [UInt8]) throws {
        guard let choice = input.first else { return }
        var query = ListQuery(entity: "orders", limit: 5)
        query.sort = Self.sorts[Int(choice) % Self.sorts.count].split(separator: ",").map {
            SortTerm(text: String($0))
        }
        let text = Array(input.dropFirst())
        query.cursor = choice < 128 ? String(decoding: text, as: UTF8.self) : try forged(text, for: query)
        do {
            _ = try JSONText(cache.store.list(query).records)
        } catch CacheError.badQuery {
            return
        }
    }

    /// A cursor with the list's own mark and other values.
    private func forged(_ values: [UInt8], for query: ListQuery) throws -> String? {
        guard let real = try cache.store.list(query).next,
            let data = Data(base64Encoded: Self.padded(real.replacing("-", with: "+").replacing("_", with: "/"))),
            let mark = try JSONText(Array(data)).elements.first
        else { fatalError("the first page of 40 records has no next page") }
        let text = Data(Array("[\(mark.text),".utf8) + values + Array("]".utf8)).base64EncodedString()
        return text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}

private enum Fuzzing {
    static let target = CursorFuzz()
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    fuzzing(data, count) { try Fuzzing.target.run($0) }
}
