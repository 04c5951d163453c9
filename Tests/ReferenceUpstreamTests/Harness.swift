import EntitySchema
import JSONText
import ReferenceUpstream
import SocketServer
import Synchronization
import TestSupport
import Testing

/// A reference upstream called as a function, with a wall clock that the test sets.
struct Harness {
    let upstream: ReferenceUpstream
    let clock = SkippingClock()
    private let time = Time()

    private final class Time: Sendable {
        let now = Mutex(Timestamp(milliseconds: 1_700_000_000_000))
    }

    init(
        _ schema: EntitySchema, _ records: [String: [String]] = [:], seed: UInt64 = 1,
        _ adjust: (inout ReferenceUpstream.Settings) -> Void = { _ in }
    ) throws {
        var settings = ReferenceUpstream.Settings()
        settings.seed = seed
        adjust(&settings)
        upstream = ReferenceUpstream(
            schema: schema, records: try records.mapValues { try $0.map { try JSONText(parsing: $0) } },
            settings: settings, clock: clock, now: { [time] in time.now.withLock { $0 } })
    }

    /// Sets the wall clock and returns its text.
    @discardableResult
    func at(_ text: String) throws -> String {
        let stamp = try #require(Timestamp(iso8601: text))
        time.now.withLock { $0 = stamp }
        return stamp.description
    }

    func get(_ target: String, _ headers: [(String, String)] = []) async throws -> Reply {
        try await send("GET", target, headers: headers)
    }

    func send(
        _ method: String, _ target: String, _ body: String = "", headers: [(String, String)] = []
    ) async throws -> Reply {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var fields = Headers()
        for (name, value) in headers { fields.append(name: name, value: value) }
        let request = Request(
            method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil, headers: fields,
            body: Array(body.utf8))
        return try Reply(try await upstream.exchange(request))
    }
}

/// A response with its body.
struct Reply {
    let response: Response
    let body: [UInt8]

    init(_ response: Response) throws {
        self.response = response
        guard case .bytes(let bytes) = response.body else { throw Unexpected() }
        body = bytes
    }

    struct Unexpected: Error {}

    var status: Int { response.status }
    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? { response.headers.first { $0.name == name }?.value }

    func json() throws -> JSONText { try JSONText(body) }

    func at(_ path: String) throws -> JSONText { try #require(try json().at(path: path)) }

    /// The plain text of one field of every record at `path`.
    func column(_ field: String, of path: String = "data") throws -> [String] {
        try at(path).elements.map { $0[field]?.plain ?? "–" }
    }
}
