import JSONText
import LocalAPI

/// Fetches all pages of a list.
enum ListPages {
    /// The whole list in the shape of one page: `data` with every element unchanged, `next` null.
    static func all(
        of path: String, query: LocalAPIClient.Query, _ client: LocalAPIClient
    ) async throws -> JSONText {
        var elements: [JSONText] = []
        try await each(of: path, query: query, client) { elements += $0 }
        return .object(["data": .array(elements), "next": .null])
    }

    /// Calls `take` with the elements of each page; holds one page in memory at a time.
    static func each(
        of path: String, query: LocalAPIClient.Query, _ client: LocalAPIClient,
        _ take: ([JSONText]) throws -> Void
    ) async throws {
        var cursor: String?
        repeat {
            let page = query + (cursor.map { [("cursor", $0)] } ?? [])
            guard let body = try await client.get(path, query: page).body, let data = body["data"] else {
                throw LocalAPIError.unexpected("\(path) did not return a list; is the daemon the same version?")
            }
            try take(data.elements)
            let next = body["next"]?.string
            guard next == nil || next != cursor else {
                throw LocalAPIError.unexpected("\(path) returned the same cursor twice, so the list has no end")
            }
            cursor = next
        } while cursor != nil
    }
}
