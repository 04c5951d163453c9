import SQLiteStore

@testable import CacheStore

/// Lists by their queries.
extension CacheStore {
    func quickList(_ query: ListQuery, include: [Inclusion] = [], thousands: Int = 50) throws -> ListPage? {
        try quickList(prepared(query, include: include), thousands: thousands)
    }

    func anyList(_ query: ListQuery, include: [Inclusion] = [], isLong: Bool = false) async throws -> ListPage {
        try await anyList(prepared(query, include: include), isLong: isLong)
    }
}
