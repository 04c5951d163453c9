import EntitySchema
import JSONText
import SchemaDraft
import Upstream

/// Reads lists of a live API to see what they have: two pages and one record of each. Only GET, and a bounded number.
struct LiveLists {
    /// Scheme, host and what all paths begin with.
    let address: String
    let transport: any HTTPTransport
    let token: String?
    let place: TokenPlace
    /// Called before each request, with its number and the path.
    var asks: @Sendable (_ number: Int, _ path: String) -> Void = { _, _ in }
    private var left: Int
    private var made = 0
    /// How many requests in a row, up to the last, were not answered, or refused as all others would be: see `endAsking`.
    private var failures = 0
    private(set) var notes: [String] = []

    static let mostRequests = 50
    /// After so many `failures` nothing more is asked: some upstreams lock an account out whose token is wrong often, or which
    /// goes on when told to slow down.
    private static let mostFailures = 3
    /// Statuses that concern the token, or all requests of the moment.
    private static let endAsking: Set = [401, 429, 503]

    init(address: String, transport: any HTTPTransport, token: String?, place: TokenPlace, requests: Int = mostRequests)
    {
        self.address = address
        self.transport = transport
        self.token = token
        self.place = place
        left = requests
    }

    /// Parameters that APIs have for the next page and for its size, likeliest first.
    private static let cursors = ["cursor", "page_token", "after", "starting_after"]
    private static let sizes = ["limit", "per_page", "page_size"]

    /// What each list shows; a list that cannot be read is left out with a note.
    mutating func observed(_ paths: [String]) async -> [ObservedList] {
        var lists: [ObservedList] = []
        for path in paths {
            guard var list = await firstPage(path) else { continue }
            if !list.hasLinkHeader { await findNextPage(of: &list, after: list.answers[0]) }
            if list.records.count > 2 { await findSize(of: &list) }
            let seen = list
            await findRecord(of: &list, among: seen.keys) { seen.recordPath($0) }
            lists.append(list)
        }
        return lists
    }

    /// What the lists of a document show that it does not describe: their first page, and one record. The document says the rest.
    mutating func observed(_ unsaid: [UnsaidList]) async -> [ObservedList] {
        // Also those that were only asked for a record that has lists below it, and nil for those that did not answer.
        var pages: [String: ObservedList?] = [:]
        for asked in unsaid {
            guard let query = asked.query else {
                notes.append(
                    "GET \(asked.path.text): not asked, because it needs a parameter that the document has no value for"
                )
                continue
            }
            if let above = asked.above, pages[above.path] == nil {
                let page = await firstPage(above.path + above.query)
                pages.updateValue(page, forKey: above.path)
            }
            let page = await firstPage(asked, query, below: pages)
            pages.updateValue(page, forKey: asked.path.text)
        }
        // After all pages, in case not all requests can be made.
        var lists: [ObservedList] = []
        for asked in unsaid {
            guard var list = pages[asked.path.text] ?? nil else { continue }
            if let record = asked.record {
                list.singlePath = record.text
                let keys = UnsaidList.ordered(list.keys, for: record)
                await findRecord(of: &list, among: keys) { key in record.filled { _ in key } }
            }
            lists.append(list)
        }
        return lists
    }

    /// The first page of a list; for one below a record, that of the first record that has any.
    private mutating func firstPage(
        _ asked: UnsaidList, _ query: String, below pages: [String: ObservedList?]
    ) async -> ObservedList? {
        guard let above = asked.above else { return await firstPage(asked.path.text + query) }
        guard let parent = pages[above.path] ?? nil,
            let key = UnsaidList.ordered(parent.keys, for: asked.path).first
        else { return nil }
        let before = notes
        for value in parent.records.prefix(Self.mostRecords).compactMap({ $0[key]?.plain }) where Self.fitsPath(value) {
            let path = asked.path.filled { _ in Entity.percentEncoded(value) }
            guard var list = await firstPage(path + query) else { continue }
            list.path = asked.path.text
            notes = before
            return list
        }
        return nil
    }

    /// Of records, how many are tried to find one that has a list below it.
    private static let mostRecords = 3

    /// Whether it is no step to another place.
    private static func fitsPath(_ key: String) -> Bool { !["", ".", ".."].contains(key) }

    /// Nil with a note if it has no records.
    private mutating func firstPage(_ path: String) async -> ObservedList? {
        guard let first = await answer(path) else { return nil }
        var list = ObservedList(path: Self.withoutQuery(path), answers: [first.body])
        let records = list.records
        guard !records.isEmpty else {
            let values = PlaceSearch(first.body).values.map(\.value)
            let isEmpty = values.contains { $0.kind == .array && $0.elementCount == 0 }
            notes.append("GET \(path): \(isEmpty ? Self.emptyList : Self.noList)")
            return nil
        }
        list.hasLinkHeader = Self.hasNextLink(first.response)
        list.nextPlace = UnfollowedPage.header(in: first.response)
        list.totalHeader = PlaceSearch.totalHeader(of: records.count, in: first.response)?.name
        return list
    }

    private static let noList = "no list of objects in the answer"
    private static let emptyList = "its list is empty; draft it once it has records"

    private static func withoutQuery(_ path: String) -> String { String(path.prefix { $0 != "?" }) }

    // MARK: What is tried

    /// Asks for the page after this one in the usual ways, until other records come. `size`: a parameter that `first` was
    /// asked for with.
    private mutating func findNextPage(of list: inout ObservedList, after first: JSONText, size: String = "") async {
        let records = ObservedList.records(in: first)
        let cursor = Self.cursor(in: first)
        var tries = [("page", "2", true), ("offset", "\(records.count)", true)]
        if let cursor { tries = Self.parameters(for: cursor.place).map { ($0, cursor.text, false) } + tries }
        for (name, value, isNumber) in tries {
            let path = "\(list.path)?\(name)=\(Entity.percentEncoded(value))\(size)"
            guard let found = await answer(path, isTry: true) else { continue }
            let others = ObservedList.records(in: found.body)
            guard let other = others.first, !records.contains(other) else { continue }
            list.page = (name, isNumber)
            list.nextPlace = isNumber ? nil : cursor?.place
            // The records of a smaller page are known already.
            if size.isEmpty { list.answers.append(found.body) }
            return
        }
        list.nextPlace = cursor?.place ?? UnfollowedPage.place(in: first) ?? list.nextPlace
    }

    /// The parameter that the place is named after comes first: `pageToken` for `nextPageToken`.
    private static func parameters(for place: String) -> [String] {
        let name = place.split(separator: ".").last.map(String.init) ?? place
        let isNext = name.lowercased().hasPrefix("next") && name.count > 4
        let own = isNext ? String(name.dropFirst(4).drop { $0 == "_" }) : name
        let first = own.prefix(1).lowercased() + own.dropFirst()
        return [first] + cursors.filter { $0 != first }
    }

    /// A text that names the next page and is no address, and where it is.
    private static func cursor(in answer: JSONText) -> (place: String, text: String)? {
        let names: Set = [
            "nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "endcursor", "next", "cursor", "after",
            "offset",
        ]
        for found in PlaceSearch(answer).values {
            let name = found.place.split(separator: ".").last.map { Words.folded(String($0)) } ?? ""
            if names.contains(name), let text = found.value.string, isCursor(text) { return (found.place, text) }
        }
        return nil
    }

    private static func isCursor(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix("/") && !text.contains("://") && !text.contains("?")
    }

    private mutating func findSize(of list: inout ObservedList) async {
        for name in Self.sizes {
            let size = "\(name)=2"
            guard let found = await answer("\(list.path)?\(size)", isTry: true),
                (1...2).contains(ObservedList.records(in: found.body).count)
            else { continue }
            list.size = name
            // A short list is whole on its first page; a smaller page shows how to ask for the next.
            guard list.page == nil, !list.hasLinkHeader else { return }
            list.small = found.body
            list.hasLinkHeader = Self.hasNextLink(found.response)
            if !list.hasLinkHeader { await findNextPage(of: &list, after: found.body, size: "&\(size)") }
            return
        }
    }

    private static func hasNextLink(_ response: HTTPResponse) -> Bool {
        response.header("Link")?.contains("next") ?? false
    }

    /// `path`: that of a record, by its key.
    private mutating func findRecord(
        of list: inout ObservedList, among keys: [String], at path: (String) -> String
    ) async {
        for key in keys.prefix(Self.mostKeys) {
            guard let value = list.records.first?[key]?.plain, Self.fitsPath(value) else { continue }
            guard let found = await answer(path(Entity.percentEncoded(value)), isTry: true) else { continue }
            let isIt = PlaceSearch(found.body).values.contains {
                $0.value.kind == .object && $0.value[key]?.plain == value
            }
            guard isIt else { continue }
            (list.single, list.servedKey) = (found.body, key)
            return
        }
    }

    /// Of members that may be the key, how many are tried in a record's address.
    private static let mostKeys = 3

    // MARK: Requests

    /// Nil if there is no JSON with status 200. `isTry`: it may be missing.
    private mutating func answer(
        _ path: String, isTry: Bool = false
    ) async -> (body: JSONText, response: HTTPResponse)? {
        if let end {
            if !notes.contains(end) { notes.append(end) }
            return nil
        }
        left -= 1
        made += 1
        asks(made, path)
        let wire = WireRequest(path: path).authorized(by: token, at: place)
        let request = HTTPRequest(
            url: address + wire.path,
            headers: wire.headers.map { HTTPHeader($0.name, $0.value) } + [HTTPHeader("Accept", "application/json")],
            deadline: .seconds(20))
        do throws(TransportError) {
            let response = try await transport.send(request)
            // A large answer is kept while others are asked for, which would wait for its memory.
            response.share?.release()
            failures = Self.endAsking.contains(response.status) ? failures + 1 : 0
            if response.status == 200, let body = try? JSONText(response.body) { return (body, response) }
            if !isTry { notes.append("GET \(path): \(Self.words(response.status))") }
        } catch {
            if case .unacceptable = error { failures = 0 } else { failures += 1 }
            if !isTry { notes.append("GET \(path): \(error.reason)") }
        }
        return nil
    }

    /// Why nothing more is asked; nil while something may be.
    private var end: String? {
        if left == 0 { return "\(Self.mostRequests) requests were made; give fewer lists at a time to see the rest" }
        guard failures >= Self.mostFailures else { return nil }
        return "the rest was not asked, because \(failures) requests in a row failed so"
    }

    private static func words(_ status: Int) -> String {
        switch status {
        case 200: "the answer is not JSON"
        case 401, 403: "status \(status); check the token, and how it is sent (--auth)"
        case 429, 503: "status \(status); try again later"
        default: "status \(status)"
        }
    }
}
