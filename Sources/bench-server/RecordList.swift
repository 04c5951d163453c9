internal import JSONText
internal import SocketServer

/// A paged list of records: all pages are prebuilt; pages of changes since a time are built on request.
struct RecordList {
    let pages: [Response]
    /// The records with their times of change, newest first.
    private let newest: [(changed: String, record: JSONText)]
    private let pageSize: Int

    init(_ records: [JSONText], pageSize: Int) {
        self.pageSize = pageSize
        pages = Self.pages(of: records, pageSize)
        newest = records.map { ($0["updated_at"]?.plain ?? "", $0) }.sorted { $0.0 > $1.0 }
    }

    /// Nil when the page does not exist. Times are compared as text: all in the data are UTC and of the same length.
    func page(_ number: Int, since: String?) -> Response? {
        guard let since, !since.isEmpty else { return Self.element(number, of: pages) }
        let changed = newest.prefix { $0.changed >= since }.map(\.record)
        return Self.element(number, of: Self.pages(of: changed, pageSize))
    }

    private static func element(_ number: Int, of pages: [Response]) -> Response? {
        (1...pages.count).contains(number) ? pages[number - 1] : nil
    }

    private static func pages(of records: [JSONText], _ pageSize: Int) -> [Response] {
        let count = max(1, (records.count + pageSize - 1) / pageSize)
        return (1...count).map { page in
            let envelope = JSONText.object([
                "success": true,
                "data": .array(records.dropFirst((page - 1) * pageSize).prefix(pageSize)),
                "pagination": .object([
                    "page": .integer(page), "limit": .integer(pageSize), "total": .integer(records.count),
                    "total_pages": .integer(count),
                ]),
            ])
            return .json(Array(envelope.bytes))
        }
    }
}

extension Response {
    static func json(_ bytes: [UInt8]) -> Response {
        Response(status: 200, headers: [("Content-Type", "application/json")], body: bytes)
    }
}
