import JSONText
import TestSupport
import Testing
import Upstream

/// Hostile text in every place that the daemon's OpenAPI description offers to callers: ids, parameters, header fields and
/// members of bodies.
@Suite("Hostile places", .serialized)
struct HostilePlacesTests {
    @Test("no text in any place gets 5xx, and the tables stay as they were")
    func places() async throws {
        try await OfflineDaemon.run { daemon throws in
            let document = try await Self.document(of: daemon)
            let calls = Self.calls(in: document)
            #expect(calls.count > 50)
            var connection = try daemon.connect()
            var deck = Deck(HostileInputTests.strings)
            for call in calls {
                // A stream never ends.
                if call.path == "/v1/events" { connection = try daemon.connect() }
                for place in call.places {
                    let strings = TestRun.isFull ? HostileInputTests.strings : (0..<2).map { _ in deck.draw() }
                    for request in strings.compactMap(place) {
                        let status = try connection.exchange(request)
                        // A call that waits for a sync, which an empty wait= requests, reports that the upstream is
                        // unreachable.
                        let isFine = status ?? 0 < 500 || status == 503 && call.path == "/v1/sync"
                        #expect(isFine, "\(request.prefix(200)): \(String(describing: status)), \(TestRun.note())")
                        if status == nil || call.path == "/v1/events" { connection = try daemon.connect() }
                    }
                }
            }
            for call in calls where call.method == "GET" && !call.path.contains("{") && call.path != "/v1/events" {
                let query = call.path == "/v1/search" ? "?q=ab" : ""
                let request = "GET \(call.path)\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n"
                #expect(try daemon.status(request) == 200, "\(call.path)")
            }
        }
    }

    private static func document(of daemon: OfflineDaemon) async throws -> JSONText {
        let transport = try CurlTransport(userAgent: "test")
        let request = HTTPRequest(method: "GET", url: "\(daemon.address)/openapi.json", headers: [], body: nil)
        return try JSONText(try await transport.send(request).body)
    }

    // MARK: Reading the description

    private static func calls(in document: JSONText) -> [HostileCall] {
        var seen: Set<String> = []
        return (document["paths"]?.members ?? []).flatMap { path, methods in
            methods.members.map { method, call in
                var hostile = HostileCall(method: method.uppercased(), path: path)
                for reference in call["parameters"]?.elements.compactMap({ $0["$ref"]?.string }) ?? [] {
                    // An entity's own parameters are the same in all its lists.
                    guard !reference.contains(".") || seen.insert(reference).inserted,
                        let parameter = target(of: reference, in: document), let name = parameter["name"]?.string
                    else { continue }
                    if parameter["in"] == "query" { hostile.parameters.append(name) }
                    if parameter["in"] == "header" { hostile.fields.append(name) }
                }
                let body = call.at(path: "requestBody.content")?["application/json"]?["schema"]?["$ref"]?.string
                hostile.members = body.map { reference in
                    let members = target(of: reference, in: document)?["properties"]?.members.map(\.key) ?? []
                    return members.isEmpty ? ["status"] : members
                }
                return hostile
            }
        }
    }

    /// The target of a reference.
    private static func target(of reference: String, in document: JSONText) -> JSONText? {
        reference.split(separator: "/").dropFirst().reduce(document) { place, name in place?[String(name)] }
    }
}

/// One method at one path, and the places in it that a caller fills.
struct HostileCall {
    var method: String
    var path: String
    var parameters: [String] = []
    var fields: [String] = []
    /// The members of its body; nil when it takes none.
    var members: [String]?

    /// For each place in the call, the request with a text in it; nil when the place cannot hold the text.
    var places: [(String) -> String?] {
        let plain = path.replacing("{id}", with: "1")
        let segments = plain.split(separator: "/").map(String.init)
        let paths = segments.indices.map { index -> (String) -> String? in
            { text in
                var parts = segments
                parts[index] = HostileInputTests.encoded(text)
                return request("/" + parts.joined(separator: "/"))
            }
        }
        let queries = (parameters.flatMap { ["\($0)=TEXT", "\($0).gte=TEXT"] } + ["TEXT=1", "id.TEXT=1"])
            .map { query -> (String) -> String? in
                { request("\(plain)?\(query.replacing("TEXT", with: HostileInputTests.encoded($0)))") }
            }
        let headers = fields.map { name -> (String) -> String? in
            { text in
                // The hostile requests cover what a header field cannot hold.
                guard text.unicodeScalars.allSatisfy({ $0.value >= 32 }) else { return nil }
                return request(plain, field: "\(name): \(text)\r\n")
            }
        }
        return paths + queries + headers + bodies(plain)
    }

    private func bodies(_ plain: String) -> [(String) -> String?] {
        guard let members else { return [] }
        func body(_ member: @escaping (String) -> (key: String, value: JSONText)) -> (String) -> String? {
            { request(plain, body: .object(members: [member($0)])) }
        }
        return members.flatMap { name in
            [body { (name, .string($0)) }, body { (name, .array([.string($0)])) }]
        } + [body { ($0, 1) }]
    }

    private func request(_ target: String, field: String = "", body: JSONText? = nil) -> String {
        let text = body?.text ?? (members == nil ? "" : "{}")
        let type = text.isEmpty ? "" : "Content-Type: application/json\r\n"
        return "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(type)\(field)"
            + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }
}
