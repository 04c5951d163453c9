internal import JSONText
internal import SocketServer

/// Every answer of the server, ready to be sent: by path, then by page.
struct Site {
    private var pages: [String: [Response]] = [:]
    /// What the pages are downloaded as: a name for each path, in the order they were added.
    private var downloads: [(path: String, name: String)] = []
    private var pageSize = 0

    private static let lists = ["clients", "orders", "devices", "tickets"]

    /// Adds `bytes` as the one answer at `path`.
    mutating func add(_ path: String, _ bytes: [UInt8]) {
        pages[path] = [Self.response(bytes)]
    }

    /// Adds the lists of Repair Minder, the messages of each ticket, and what else a client asks first.
    mutating func addUpstream(from folder: String, pageSize: Int) throws {
        self.pageSize = pageSize
        add("/api/auth/me", Array(#"{"data":{"company":{"id":"company-1"}}}"#.utf8))
        add("/api/health", Array(#"{"status":"ok"}"#.utf8))
        var tickets: [JSONText] = []
        for name in Self.lists {
            let records = try Self.records(folder, name)
            addList("/api/\(name)", records, downloadedAs: name)
            if name == "tickets" { tickets = records }
        }
        let messages = Dictionary(grouping: try Self.records(folder, "ticket_messages")) { $0["ticket_id"]?.plain }
        for id in tickets.compactMap({ $0["id"]?.plain }) {
            addList("/api/tickets/\(id)/messages", messages[id] ?? [], downloadedAs: "ticket_messages.\(id)")
        }
    }

    func answer(_ request: Request) -> Response {
        guard let pages = pages[request.path], let page = Self.page(of: request), (1...pages.count).contains(page)
        else { return Response(status: 404) }
        return pages[page - 1]
    }

    /// A config file for `curl -K` that downloads every page into the current folder, as `<name>.<page>.json`.
    func downloads(from address: String) -> String {
        var lines: [String] = []
        for (path, name) in downloads {
            for page in 1...(pages[path]?.count ?? 1) {
                lines.append("url = \"\(address)\(path)?page=\(page)&limit=\(pageSize)\"")
                lines.append("output = \"\(name).\(page).json\"")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Parts

    private mutating func addList(_ path: String, _ records: [JSONText], downloadedAs name: String) {
        let count = max(1, (records.count + pageSize - 1) / pageSize)
        pages[path] = (1...count).map { page in
            let envelope = JSONText.object([
                "success": true,
                "data": .array(records.dropFirst((page - 1) * pageSize).prefix(pageSize)),
                "pagination": .object([
                    "page": .integer(page), "limit": .integer(pageSize), "total": .integer(records.count),
                    "total_pages": .integer(count),
                ]),
            ])
            return Self.response(Array(envelope.bytes))
        }
        downloads.append((path, name))
    }

    private static func records(_ folder: String, _ entity: String) throws -> [JSONText] {
        try BenchServer.bytes(of: "\(folder)/\(entity).ndjson").split(separator: UInt8(ascii: "\n")).map {
            try JSONText($0)
        }
    }

    /// The page that the query asks for; 1 when it asks for none, nil when it makes no sense.
    private static func page(of request: Request) -> Int? {
        guard let query = request.query else { return 1 }
        let value = query.split(separator: "&").first { $0.hasPrefix("page=") }?.dropFirst("page=".count)
        return value.map { Int($0) } ?? 1
    }

    private static func response(_ bytes: [UInt8]) -> Response {
        Response(status: 200, headers: [("Content-Type", "application/json")], body: bytes)
    }
}
