internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import LocalAPI
internal import SocketServer

/// A whole list, read by cursor and written one page after the other.
///
/// It holds no snapshot, and no page, while its reader takes what was written, so a reader that hangs costs no more than that,
/// and the server's write deadline drops it. As with pages, a record that does not change meanwhile is neither repeated nor left
/// out.
struct ListExport: Sendable {
    private static let pageSize = 500
    /// Less than other pages have, because any number of callers may take their time with one.
    private static let pageBytes = 512 << 10

    let store: CacheStore
    /// Its limit is that of the whole list.
    let query: ListQuery
    let include: [Inclusion]
    let caller: ReadCaller
    let format: RecordFormat

    func first() async throws -> ListPage { try await page(after: nil, query.limit) }

    /// `first` is the list's first page. Throws when the list cannot be read on, after `report`, or when the reader has gone.
    func write(
        from first: consuming ListPage, to write: Response.Write, report: (any Error) -> Void
    ) async throws {
        var page = first
        var left = query.limit
        var header = format.header
        while true {
            var bytes = header
            header = []
            for record in JSONText(validated: page.records).elements { format.append(record, to: &bytes) }
            page.records = []  // before they are sent, which may take long
            // `write` may let go of it before the reader has taken it.
            try await write(consume bytes)
            left -= page.count
            guard let cursor = page.next, left > 0 else { return }
            await Task.yield()  // to other callers
            do {
                page = try await self.page(after: cursor, left)
            } catch let error as CancellationError {
                throw error
            } catch {
                report(error)
                throw error
            }
        }
    }

    private func page(after cursor: String?, _ limit: Int) async throws -> ListPage {
        var query = query
        query.limit = min(limit, Self.pageSize)
        query.mostBytes = Self.pageBytes
        query.cursor = cursor ?? query.cursor
        return try await store.anyList(store.prepared(query, include: include), for: caller)
    }
}
