internal import GRDB

/// Where a page of a list ends: at its limit, or once its records have so many bytes that a list of large ones could fill
/// the memory.
struct PageEnd {
    private let list: ListStatement
    private let limit: Int
    /// The position of the last record; nil while the page goes on.
    private var last: [DatabaseValue]?
    /// The cursor of the next page, if there is one.
    private(set) var next: String?

    init(of list: ListStatement, limit: Int) {
        self.list = list
        self.limit = limit
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
        if count == limit || bytes >= ListPage.mostBytes { last = list.order.position(of: row) }
    }
}
