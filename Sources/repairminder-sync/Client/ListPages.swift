import JSONText
import LocalAPI

/// Fetches all pages of a list. A daemon that gives one without end, as a compromised one could, is left in the end.
enum ListPages {
    /// What a list that is held in memory may have, in bytes of JSON.
    private static let largest = 1 << 30
    /// Consecutive pages without an element. Each one costs the daemon a search, so few are expected.
    private static let mostEmpty = 1000

    /// The whole list in the shape of one page: `data` with every element unchanged, `next` null, and `complete` where a page
    /// says that it is not.
    static func all(
        of path: String, query: LocalAPIClient.Query, _ client: LocalAPIClient, largest: Int = Self.largest
    ) async throws -> JSONText {
        var elements: [JSONText] = []
        var size = 0
        let isComplete = try await each(of: path, query: query, client) { page in
            // An empty object takes memory too.
            size += page.reduce(0) { $0 + $1.bytes.count + MemoryLayout<JSONText>.stride }
            guard size <= largest else {
                throw LocalAPIError.unexpected(
                    "\(path) has more than \(largest >> 20) MiB, which is not held in memory; export writes records one by one"
                )
            }
            elements += page
        }
        let list = JSONText.object(["data": .array(elements), "next": .null])
        return isComplete ? list : list.setting("complete", to: false)
    }

    /// What people are told of a list that says that it is not complete.
    static func incomplete(_ entity: String) -> String {
        "the first load of \(entity) has not ended; more records may come\n"
    }

    /// Whether the first load of an entity has ended, so that the upstream has no record that is not found here.
    static func isLoaded(_ entity: String, _ client: LocalAPIClient) async throws(LocalAPIError) -> Bool {
        let page = try await client.get(LocalAPIPaths.records(of: entity), query: [("limit", "1")]).body
        return page?["complete"]?.boolean != false
    }

    /// Calls `take` with the elements of each page; holds one page in memory at a time. False if a page says that the list is
    /// not complete.
    @discardableResult
    static func each(
        of path: String, query: LocalAPIClient.Query, _ client: LocalAPIClient,
        _ take: ([JSONText]) throws -> Void
    ) async throws -> Bool {
        var isComplete = true
        var cursor: String?
        var empty = 0
        repeat {
            let page = query + (cursor.map { [("cursor", $0)] } ?? [])
            guard let body = try await client.get(path, query: page).body, let data = body["data"] else {
                throw LocalAPIError.unexpected("\(path) did not return a list; is the daemon the same version?")
            }
            let elements = data.elements
            try take(elements)
            if body["complete"]?.boolean == false { isComplete = false }
            empty = elements.isEmpty ? empty + 1 : 0
            guard empty <= mostEmpty else {
                throw LocalAPIError.unexpected(
                    "\(path) returned \(empty) pages without content, so the list has no end")
            }
            let next = body["next"]?.string
            guard next == nil || next != cursor else {
                throw LocalAPIError.unexpected("\(path) returned the same cursor twice, so the list has no end")
            }
            cursor = next
        } while cursor != nil
        return isComplete
    }
}
