internal import EntitySchema
package import JSONText

/// Notices that a response names a next page in a way that the schema does not follow: the list would be cut there
/// without a word.
package enum UnfollowedPage {
    /// Members that name the next page, or say that there is one, in the ways that are common.
    private static let places = [
        "next", "next_page", "nextPage", "next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_url",
        "nextUrl", "next_page_url", "has_more", "hasMore", "links.next", "_links.next", "meta.next_cursor",
        "meta.next_page", "meta.has_more", "meta.pagination.links.next", "paging.next", "pagination.next",
        "pagination.has_more", "meta.cursor", "offset", "pageInfo.hasNextPage", #""@odata.nextLink""#,
        #""odata.nextLink""#, "d.__next", "nextLink", "nextRecordsUrl", "next_page_uri", "next_token", "nextToken",
        "meta.next_token", "metadata.continue", "response_metadata.next_cursor", "hasNextPage", "has_next_page",
        "hasNext", "has_next", "links.rel=next.href", "link.relation=next.url",
    ]
    /// Members of an object that names the next page, as in HAL.
    private static let inner = ["href", "url", "after", "cursor"]
    /// Headers that name it, or the cursor for it.
    private static let headers = [
        "X-Next-Page", "Next-Page", "X-Next-Cursor", "Next-Cursor", "X-Next-Page-Token", "X-Next-Token",
        "X-Continuation-Token", "X-MS-Continuation",
    ]
    private static let noPage: Set = ["0", "null", "none", "false"]

    /// Where the last page of a list names another one; nil if it does not.
    ///
    /// `envelope` is the body without the records. `known`: what the schema reads there, such as a token for the next pull.
    static func found(
        in response: HTTPResponse, _ envelope: JSONText, of list: ListPlan, known: Place?
    ) -> String? {
        if case .link = list.style {} else if (try? LinkHeader(of: response))?.next != nil { return "Link: rel=next" }
        let read = (known?.paths ?? []) + (list.style.next?.paths ?? [])
        return place(in: envelope) { !read.contains($0) } ?? header(in: response)
    }

    /// The header that names the next page.
    package static func header(in response: HTTPResponse) -> String? {
        headers.first { response.filledHeader($0).map { !noPage.contains($0.lowercased()) } ?? false }
    }

    /// Where an answer names the next page.
    package static func place(in answer: JSONText, where counts: (String) -> Bool = { _ in true }) -> String? {
        for place in places {
            guard let value = answer.at(path: place) else { continue }
            guard value.kind == .object else {
                if counts(place), names(value, at: place) { return place }
                continue
            }
            let found = inner.first { counts("\(place).\($0)") && value[$0].map { names($0, at: place) } ?? false }
            if let found { return "\(place).\(found)" }
        }
        return nil
    }

    private static func names(_ value: JSONText, at place: String) -> Bool {
        // A number is where this page begins.
        if place == "offset" { return value.kind == .string && !value.plain.isEmpty && value.wholeNumber == nil }
        switch value.kind {
        case .string: return value.string?.isEmpty == false
        case .number: return value.text != "0"
        default: return value.boolean == true
        }
    }
}
