internal import Foundation
internal import JSONText
internal import SocketServer

/// The server's responses by path.
struct Site {
    private var files: [String: Response] = [:]
    private var lists: [String: RecordList] = [:]
    /// The file name for each downloaded path, in the order of adding.
    private var downloads: [(path: String, name: String)] = []
    private var pageSize = 0

    private static let entities = ["clients", "orders", "devices", "tickets"]

    /// Adds every file below `folder`, at its relative path.
    mutating func addFiles(in folder: String) throws {
        guard let names = FileManager.default.enumerator(atPath: folder) else {
            throw Options.Unusable(description: "cannot read the directory \(folder)")
        }
        for case let name as String in names {
            var isFolder: ObjCBool = false
            let path = "\(folder)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            files["/\(name)"] = .json(try BenchServer.bytes(of: path))
        }
    }

    /// Adds the lists of Repair Minder, the messages of each ticket, and the first requests of a client.
    mutating func addUpstream(from folder: String, pageSize: Int) throws {
        self.pageSize = pageSize
        files["/api/auth/me"] = .json(Array(#"{"data":{"company":{"id":"company-1"}}}"#.utf8))
        files["/api/health"] = .json(Array(#"{"status":"ok"}"#.utf8))
        var tickets: [JSONText] = []
        for name in Self.entities {
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
        let page = Self.value(of: "page", in: request).map { Int($0) } ?? 1
        if let page, let list = lists[request.path] {
            return list.page(page, since: Self.value(of: "updated_since", in: request)) ?? Response(status: 404)
        }
        return files[request.path] ?? Response(status: 404)
    }

    /// A `curl -K` config file that downloads every page into the current directory as `<name>.<page>.json`.
    func downloads(from address: String) -> String {
        var lines: [String] = []
        for (path, name) in downloads {
            for page in 1...(lists[path]?.pages.count ?? 1) {
                lines.append("url = \"\(address)\(path)?page=\(page)&limit=\(pageSize)\"")
                lines.append("output = \"\(name).\(page).json\"")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Parts

    private mutating func addList(_ path: String, _ records: [JSONText], downloadedAs name: String) {
        lists[path] = RecordList(records, pageSize: pageSize)
        downloads.append((path, name))
    }

    private static func records(_ folder: String, _ entity: String) throws -> [JSONText] {
        try BenchServer.bytes(of: "\(folder)/\(entity).ndjson").split(separator: UInt8(ascii: "\n")).map {
            try JSONText($0)
        }
    }

    private static func value(of name: String, in request: Request) -> String? {
        request.query?.split(separator: "&").first { $0.hasPrefix("\(name)=") }
            .flatMap { String($0.dropFirst(name.count + 1)).removingPercentEncoding }
    }
}
