import JSONText
import Testing
import Upstream

/// Hostile text in every place that the daemon's own description gives to callers: ids, parameters, header fields and the
/// members of bodies.
@Suite("Hostile places", .serialized)
struct HostilePlacesTests {
    @Test("no text in any place gets 5xx, and the tables are as they were")
    func places() async throws {
        try await LoneDaemon.run { daemon throws in
            let document = try await Self.document(of: daemon)
            let calls = Self.calls(in: document)
            #expect(calls.count > 50)
            var connection = try daemon.connect()
            for string in HostileInputTests.strings {
                for call in calls {
                    // A stream never ends.
                    if call.path == "/v1/events" { connection = try daemon.connect() }
                    for request in call.requests(with: string) {
                        let status = try connection.exchange(request)
                        // Who waits for a sync, which an empty wait= asks for, is told that the upstream is away.
                        let isFine = status ?? 0 < 500 || status == 503 && call.path == "/v1/sync"
                        #expect(isFine, "\(request.prefix(200)): \(String(describing: status))")
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

    private static func document(of daemon: LoneDaemon) async throws -> JSONText {
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

    /// What a reference leads to.
    private static func target(of reference: String, in document: JSONText) -> JSONText? {
        reference.split(separator: "/").dropFirst().reduce(document) { place, name in place?[String(name)] }
    }
}

/// One method at one address, and the places in it that a caller fills.
struct HostileCall {
    var method: String
    var path: String
    var parameters: [String] = []
    var fields: [String] = []
    /// The members of its body; nil where it takes none.
    var members: [String]?

    /// One request for each place, with `text` there.
    func requests(with text: String) -> [String] {
        let value = HostileInputTests.encoded(text)
        let plain = path.replacing("{id}", with: "1")
        let segments = plain.split(separator: "/")
        var requests = segments.indices.map { index in
            request(segments.indices.map { "/" + ($0 == index ? value : String(segments[$0])) }.joined())
        }
        let queries = parameters.flatMap { ["\($0)=\(value)", "\($0).gte=\(value)"] }
        requests += (queries + ["\(value)=1", "id.\(value)=1"]).map { request("\(plain)?\($0)") }
        // Without what a field cannot hold; that has its place among the hostile requests.
        if text.unicodeScalars.allSatisfy({ $0.value >= 32 }) {
            requests += fields.map { request(plain, field: "\($0): \(text)\r\n") }
        }
        if let members {
            let string = JSONText.string(text)
            let bodies = members.flatMap { [(key: $0, value: string), (key: $0, value: .array([string]))] }
            requests += (bodies + [(key: text, value: 1)]).map { request(plain, body: .object(members: [$0])) }
        }
        return requests
    }

    private func request(_ target: String, field: String = "", body: JSONText? = nil) -> String {
        let text = body?.text ?? (members == nil ? "" : "{}")
        let type = text.isEmpty ? "" : "Content-Type: application/json\r\n"
        return "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(type)\(field)"
            + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }
}
