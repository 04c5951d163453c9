import JSONText
import LocalAPI

/// Follows the cursors of a list to its end.
enum ListPages {
    /// The whole list as one answer of the same shape: `data` with every element to the letter, `next` null.
    static func all(
        of path: String, query: LocalAPIClient.Query, _ client: LocalAPIClient
    ) async throws -> JSONText {
        var elements: [JSONText] = []
        try await each(of: path, query: query, client) { elements += $0 }
        return .object(["data": .array(elements), "next": .null])
    }

    /// Calls `take` with the elements of each page, one page in memory at a time.
    static func each(
        of path: String, query: LocalAPIClient.Query, _ client: LocalAPIClient,
        _ take: ([JSONText]) throws -> Void
    ) async throws {
        var cursor: String?
        repeat {
            let page = query + (cursor.map { [("cursor", $0)] } ?? [])
            guard let body = try await client.get(path, query: page).body, let data = body["data"] else {
                throw LocalAPIError.unexpected("\(path) answered no list; is the daemon of this version?")
            }
            try take(data.elements)
            let next = body["next"]?.string
            guard next == nil || next != cursor else {
                throw LocalAPIError.unexpected("\(path) answered the same cursor twice, so its end cannot be found")
            }
            cursor = next
        } while cursor != nil
    }
}
