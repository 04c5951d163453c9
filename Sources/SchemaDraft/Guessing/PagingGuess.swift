/// How a list is paged, from its parameters and its answer.
struct PagingGuess {
    let shapes: ShapeReader
    /// The parameters whose next values the answers of other lists have.
    var cursors: [String] = []

    private static let totals = [
        "total", "totalcount", "totalitems", "totalresults", "totalrecords", "totalsize", "totalelements",
        "totalentries",
        "count", "recordcount", "itemcount", "totalnumber", "numfound",
    ]
    private static let totalHeaders: Set = ["xtotal", "xtotalcount", "totalcount", "xwptotal"]
    private static let pageCounts = ["pages", "totalpages", "pagecount", "lastpage", "numpages"]
    private static let more = ["hasmore", "hasnext", "hasmoreitems", "hasnextpage", "more"]
    private static let ends = ["done", "endofstream", "islast", "last"]

    /// `todo`: what a person has to find out; nil if the next page is found.
    func paging(of collection: Collection) -> (paging: Guess<DraftPaging>, todo: String?) {
        var found = styled(collection)
        let size = Self.parameter(ParameterNames.sizes, in: collection.list, where: Self.isNumber)
        if found.paging.value.endsByLength, size.map(Self.isLimited) ?? true {
            // No length says that a page is short, so an empty one is the last.
            (found.paging.value.size, found.paging.value.pageSize) = (nil, 1)
            let reason = [found.paging.reason, "an empty page is the last"].compactMap(\.self)
            found.paging.reason = reason.joined(separator: "; ")
        }
        return found
    }

    private func styled(_ collection: Collection) -> (paging: Guess<DraftPaging>, todo: String?) {
        let (list, key) = (collection.list, collection.key.value)
        let places = Places(shapes, collection.answer)
        let size = Self.parameter(ParameterNames.sizes, in: list, where: Self.isNumber)
        var found = Self.end(of: list, places)
        if let size { (found.size, found.pageSize) = (size.name, Self.pageSize(size)) }
        if let known = Self.ofPostgREST(list, found) { return (known, nil) }
        if let next = list.nextPlace, let parameter = list.queries.first(where: { $0.shape.kind == .string }) {
            found.style = .cursor(parameter: parameter.name, next: next)
            return (Guess(found, "other records came for \(parameter.name) with the value at \(next)"), nil)
        }
        let cursor = Self.parameter(ParameterNames.cursors, in: list) { !Self.isTime($0) }
        if let same = places.nextOfSameName(list.queries.map(\.name).filter { $0 != size?.name }) {
            found.style = .cursor(parameter: same.parameter, next: same.place)
            return (Guess(found, "its answer has \(same.place) for the parameter \(same.parameter)"), nil)
        }
        if let cursor, Self.isFromHeader(cursor) {
            found.style = .link
            return (Guess(found, "the parameter \(cursor.name) comes from a Link header"), nil)
        }
        if let cursor, let next = places.next(isAddress: false) {
            found.style = .cursor(parameter: cursor.name, next: next)
            return (Guess(found, "it has the parameter \(cursor.name), and its answer \(next)"), nil)
        }
        if cursor == nil, let known = ofLaravel(list, places, found) { return known }
        // With a cursor too, the number of a page says nothing alone.
        let address = addressed(list, places, found)
        let known =
            (cursor == nil ? nil : address) ?? counted(list, places, found) ?? address
            ?? Self.offset(["startposition"], list, found) ?? byLast(cursor, found, key: key)
        return known.map { ($0, nil) }
            ?? (cursor == nil ? ofOtherLists(places, found) ?? Self.numbered(places, found) : nil)
            ?? Self.single(
                found, [size?.name, cursor?.name ?? Self.described(list, beside: size)],
                places.first(Self.pageCounts, [.integer, .number]), list)
    }

    /// The places that say where the list ends, whatever its style.
    private static func end(of list: APIOperation, _ places: Places) -> DraftPaging {
        var found = DraftPaging()
        found.total = places.total(totals)
        if found.total == nil {
            found.totalHeader = list.answerHeaders.first { totalHeaders.contains(Words.folded($0)) }
        }
        found.more = places.first(more, [.boolean])
        if found.more == nil, let end = places.first(ends, [.boolean]) {
            (found.more, found.moreIs) = (end, false)
        }
        return found
    }

    private static func isFromHeader(_ cursor: APIOperation.Parameter) -> Bool {
        let words = Set(Words.parts(of: cursor.description ?? ""))
        return words.contains("link") && words.contains { $0.hasPrefix("header") }
    }

    private func counted(_ list: APIOperation, _ places: Places, _ known: DraftPaging) -> Guess<DraftPaging>? {
        var found = known
        if let page = Self.parameter(ParameterNames.pages, in: list) {
            let isFromZero =
                page.shape.initial.map { Int($0) == 0 } ?? (page.shape.minimum == 0 || Self.isOfSpring(places))
            let first = isFromZero ? 0 : nil
            let pages = places.first(Self.pageCounts, [.integer, .number])
            found.style = .page(parameter: page.name, pages: pages, first: first)
            return Guess(found, "it has the parameter \(page.name)")
        }
        return Self.offset(ParameterNames.offsets, list, known)
    }

    /// Whether an answer is a page of Spring, which counts them from 0 and is asked for one by `page`, though the answer calls
    /// its number otherwise.
    private static func isOfSpring(_ places: Places) -> Bool {
        places.first(["numberofelements"], [.integer, .number]) != nil
    }

    private static func ofPostgREST(_ list: APIOperation, _ known: DraftPaging) -> Guess<DraftPaging>? {
        guard RowFilters.has(list) else { return nil }
        var found = known
        (found.style, found.size) = (.offset(parameter: "offset", first: nil), "limit")
        (found.pageSize, found.totalHeader) = (nil, RowFilters.total)
        return Guess(found, "its headers are those of PostgREST")
    }

    /// A page of Laravel, whose links to other pages forget all else that the first one was asked with.
    private func ofLaravel(
        _ list: APIOperation, _ places: Places, _ known: DraftPaging
    ) -> (paging: Guess<DraftPaging>, todo: String?)? {
        let names = ["currentpage", "lastpage"]
        guard names.allSatisfy({ places.first([$0], [.integer, .number]) != nil }), places.next(isAddress: true) != nil
        else { return nil }
        return counted(list, places, known).map { ($0, nil) } ?? Self.numbered(places, known)
    }

    private static func offset(
        _ names: [String], _ list: APIOperation, _ known: DraftPaging
    ) -> Guess<DraftPaging>? {
        var found = known
        guard let offset = parameter(names, in: list), offset.name != found.size,
            [.integer, .number, .unknown].contains(offset.shape.kind) || isNumberInText(offset, known)
        else { return nil }
        found.style = .offset(parameter: offset.name, first: offset.shape.initial == "1" ? 1 : nil)
        return Guess(found, "it has the parameter \(offset.name)")
    }

    /// Some documents say that all parameters are texts. An offset into a list that says how long it is can only be a number.
    private static func isNumberInText(_ parameter: APIOperation.Parameter, _ known: DraftPaging) -> Bool {
        ["offset", "skip"].contains(folded(parameter.name)) && parameter.shape.kind == .string && known.total != nil
    }

    /// A parameter of which only words say that it is about pages: `before`, "useful for pagination".
    private static func described(_ list: APIOperation, beside size: APIOperation.Parameter?) -> String? {
        list.queries.first { parameter in
            parameter.name != size?.name
                && (parameter.description ?? "").lowercased().contains(/paginat|\bpaging\b|\bnext page\b|\bper page\b/)
        }?.name
    }

    /// The parameter whose next value the list's answer has.
    func cursor(of collection: Collection) -> String? {
        let names = collection.list.queries.map(\.name).filter { !ParameterNames.sizes.contains(Self.folded($0)) }
        return Places(shapes, collection.answer).nextOfSameName(names)?.parameter
    }

    /// The parameter that the document names only for other lists, where this one's answer has its next value too.
    private func ofOtherLists(_ places: Places, _ known: DraftPaging) -> (paging: Guess<DraftPaging>, todo: String?)? {
        guard let same = places.nextOfSameName(cursors) else { return nil }
        var found = known
        found.style = .cursor(parameter: same.parameter, next: same.place)
        return (Guess(found, "its answer has \(same.place), and other lists the parameter \(same.parameter)"), nil)
    }

    /// How the TODO of a guessed parameter begins.
    static let unnamed = "pagination.page:"
    private static let current = ["currentpage", "pagenumber", "pageno", "page"]

    /// The parameter that the document leaves out, for an answer that says which page it is, and of how many.
    private static func numbered(
        _ places: Places, _ known: DraftPaging
    ) -> (paging: Guess<DraftPaging>, todo: String?)? {
        let numbers: [DataShape.Kind] = [.integer, .number]
        guard let pages = places.first(pageCounts, numbers), let current = places.first(current, numbers),
            let name = current.split(separator: ".").last.map({ $0.filter { $0 != "\"" } })
        else { return nil }
        let isOfSpring = isOfSpring(places)
        let parameter = isOfSpring || Words.folded(name) == "currentpage" ? "page" : name
        var found = known
        found.style = .page(parameter: parameter, pages: pages, first: isOfSpring ? 0 : nil)
        return (
            Guess(found, "a guess: its answer has \(current) and \(pages)"),
            "\(unnamed) the document names no parameter; check that \(parameter) asks for the next page"
        )
    }

    private func addressed(_ list: APIOperation, _ places: Places, _ known: DraftPaging) -> Guess<DraftPaging>? {
        var found = known
        found.more = nil
        if list.answerHeaders.contains(where: { $0.lowercased() == "link" }) {
            found.style = .link
            return Guess(found, "its answer has a Link header")
        }
        guard let next = places.next(isAddress: true) else { return nil }
        found.style = .nextURL(next)
        return Guess(found, "its answer has \(next)")
    }

    /// `?after=` the key of the last record.
    private func byLast(_ cursor: APIOperation.Parameter?, _ known: DraftPaging, key: String) -> Guess<DraftPaging>? {
        guard let cursor, ["after", "startingafter", "next", "cursor"].contains(Self.folded(cursor.name)) else {
            return nil
        }
        var found = known
        found.style = .lastRecord(parameter: cursor.name, place: key)
        let check = found.more == nil ? "; check that the list without it has the first records" : ""
        return Guess(found, "it has the parameter \(cursor.name), and its answer no cursor\(check)")
    }

    /// The fewest records that were seen and may be a page.
    private static let shortestPage = 5

    private static func single(
        _ known: DraftPaging, _ parameters: [String?], _ pages: String?, _ list: APIOperation
    ) -> (paging: Guess<DraftPaging>, todo: String?) {
        let left = parameters.compactMap(\.self)
        let found = Guess(
            DraftPaging(style: .single, total: known.total, totalHeader: known.totalHeader))
        if let place = list.nextPlace ?? (left.isEmpty ? pages : nil) {
            return (found, "pagination: its answer has \(place), and no parameter asks for the next page")
        }
        if left.isEmpty, let count = list.seenRecords, count >= shortestPage {
            return (
                found,
                "pagination: no parameter asks for a next page; check that these \(count) records are all"
            )
        }
        guard !left.isEmpty else { return (found, nil) }
        return (
            found, "pagination: it has \(left.joined(separator: " and ")), and nothing says where the next page is"
        )
    }

    // MARK: Parameters

    static func folded(_ name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber || "[]$".contains($0) }
    }

    private static func parameter(
        _ names: [String], in list: APIOperation, where fits: (APIOperation.Parameter) -> Bool = { _ in true }
    ) -> APIOperation.Parameter? {
        for name in names {
            if let found = list.queries.first(where: { folded($0.name) == name && fits($0) }) { return found }
        }
        return nil
    }

    /// Whether a parameter may take how many records a page has: `count` may also be a switch, `size` a list of sizes.
    private static func isNumber(_ parameter: APIOperation.Parameter) -> Bool {
        switch parameter.shape.kind {
        case .integer, .number, .unknown: true
        case .string: parameter.shape.enumValues.isEmpty
        case .boolean, .object, .array: false
        }
    }

    private static let timeWords: Set = ["date", "dates", "datetime", "timestamp", "iso8601", "rfc3339"]
    private static let placeWords: Set = [
        "cursor", "token", "page", "pages", "pagination", "id", "ids", "key", "record",
    ]

    /// Whether `after` or `since` asks for records after a time, by its format or by the words of the document.
    private static func isTime(_ parameter: APIOperation.Parameter) -> Bool {
        if parameter.shape.format?.hasPrefix("date") == true { return true }
        guard ["after", "since"].contains(folded(parameter.name)) else { return false }
        let words = Set(Words.parts(of: parameter.description ?? ""))
        return !words.isDisjoint(with: timeWords) && words.isDisjoint(with: placeWords)
    }

    /// As many as the document allows, up to a hundred.
    private static func pageSize(_ parameter: APIOperation.Parameter) -> Int? {
        let said = parameter.shape.maximum ?? largest(in: parameter.description ?? "")
        guard let maximum = said, (1...10_000).contains(maximum) else { return nil }
        return min(maximum, 100)
    }

    /// The largest number that words allow: `max. 50`, `cannot exceed 200`, `between 1 and 30`. Fewer than five are no page.
    private static func largest(in description: String) -> Int? {
        let text = description.lowercased()
        let most =
            /\b(?:max\.?|maximum|at most|up to|exceed|more than|greater than)(?![a-z])([^0-9.;]{0,25})([0-9][0-9,]{0,5})\b/
        let between = /\bbetween [0-9]+ and ([0-9][0-9,]{0,5})\b/
        let found =
            text.matches(of: most).filter { !$0.1.contains("default") }.map(\.2) + text.matches(of: between).map(\.1)
        return found.compactMap { Int($0.filter(\.isNumber)) }.filter { $0 >= 5 }.max()
    }

    /// Whether a setting of the upstream limits how many records a page has, however many are asked for.
    private static func isLimited(_ size: APIOperation.Parameter) -> Bool {
        guard pageSize(size) == nil, !size.isRequired else { return false }
        return (size.description ?? "").lowercased().contains(/\bconfigur|\bservice setting/)
    }
}
