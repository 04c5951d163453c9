internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import LocalAPI
internal import SocketServer

/// A whole list, read by cursor and written one page after the other.
///
/// It holds one page in memory and no snapshot while its reader takes that page, so a reader that hangs costs no more, and
/// the server's write deadline drops it. As with pages, a record that does not change meanwhile is neither repeated nor left
/// out.
struct ListExport: Sendable {
    private static let pageSize = 500

    let store: CacheStore
    /// Its limit is that of the whole list.
    let query: ListQuery
    let include: [Inclusion]
    let format: RecordFormat

    /// What the list's first page says of it, with at most one record.
    func first() throws -> ListPage {
        var query = query
        query.limit = 1
        return try store.list(query, include: include)
    }

    /// Throws when the list cannot be read on, after `report`, or when the reader has gone.
    func write(
        to write: @Sendable ([UInt8]) async throws -> Void, report: (any Error) -> Void
    ) async throws {
        var query = query
        var left = query.limit
        var bytes = format.header
        repeat {
            query.limit = min(left, Self.pageSize)
            do {
                let page = try store.list(query, include: include)
                for record in JSONText(validated: page.records).elements { format.append(record, to: &bytes) }
                query.cursor = page.next
                left -= page.count
            } catch {
                report(error)
                throw error
            }
            try await write(bytes)
            bytes.removeAll(keepingCapacity: true)
            await Task.yield()  // to other callers
        } while query.cursor != nil && left > 0
    }
}
