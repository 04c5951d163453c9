internal import GRDB
internal import JSONText

/// Where a page of a list ends: at its limit of records or of bytes, so that a list of large records cannot fill the memory.
struct PageEnd {
    private let list: ListStatement
    private let limit: Int
    private let mostBytes: Int
    /// The position of the last record; nil while the page goes on.
    private var last: [DatabaseValue]?
    /// The cursor of the next page, if there is one.
    private(set) var next: String?

    init(of list: ListStatement, _ query: ListQuery) {
        self.list = list
        limit = query.limit
        mostBytes = query.mostBytes
    }

    /// Whether the next row belongs to the page. One that does not shows that there is a next page.
    mutating func takesNext() -> Bool {
        guard let last else { return true }
        next = list.cursor(after: last)
        return false
    }

    /// Call it after each record, so that a page has at least one, with how many the page has, how many bytes they take, and
    /// the record's row.
    mutating func note(_ count: Int, bytes: Int, _ row: OpaquePointer) {
        if count == limit || bytes >= mostBytes { last = list.order.position(of: row) }
    }
}

/// Counts the elements of a page and their bytes, which end it as they end the page of a `PageEnd`.
struct PageSize {
    private let limit: Int
    private var count = 0
    private var bytes = 0

    init(limit: Int) { self.limit = limit }

    /// Counts one element. Returns whether the page ends with it, so that a page has at least one.
    mutating func ends(with size: Int) -> Bool {
        count += 1
        bytes += size
        return count >= limit || bytes >= ListPage.mostBytes
    }

    /// A page with one element for each source, and the place of its last one if there are more. Reads one source at a time,
    /// because the elements can be large.
    static func page<Source, Place>(
        of sources: some Cursor<Source>, limit: Int, shown: (Source) throws -> JSONText, place: (Source) -> Place
    ) throws -> ([JSONText], Place?) {
        var elements: [JSONText] = []
        var size = PageSize(limit: limit)
        var next: Place?
        while let source = try sources.next() {
            if next != nil { return (elements, next) }
            let element = try shown(source)
            elements.append(element)
            if size.ends(with: element.bytes.count) { next = place(source) }
        }
        return (elements, nil)
    }
}
