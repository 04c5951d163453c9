package import JSONText

/// One request to an upstream as HTTP: method, path with query, header fields and body.
///
/// This folder forms every request to an upstream: `PageRequest` (a page of a list), `Entity` (a record), `PushRequest`
/// (a change and an upload), and `UpstreamPlan` (account, probe, token refresh, sign-in). `Upstream` only prepends the
/// base address and sends the result.
package struct WireRequest: Sendable, Equatable {
    package struct Header: Sendable, Equatable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }

        /// Asks for JSON. Without it, many servers answer with a web page, with XML, or with a redirect in place of an error.
        static let json = Header("Accept", "application/json")
        /// Has caches on the way ask the server whether what they keep is still so (RFC 9111, 5.2.1.4).
        static let current = Header("Cache-Control", "no-cache")
    }

    package var method: String
    /// Below the base address, percent-encoded, with the query. A download from another host has its whole address
    /// here.
    package var path: String
    /// In the order they are sent, without those that belong to the connection.
    package var headers: [Header]
    /// Nil for no body, for one that is no JSON, or for one that is streamed from a file.
    package var body: JSONText?
    /// A body that is no JSON.
    package var text: String?
    /// Texts in the request that no error message may repeat.
    package var secrets: [String] = []
    /// Members of the answer, at any depth, whose texts no error message may repeat.
    package var secretMembers: Set<String> = []
    /// The answer is to many changes and may be as large as a page.
    package var hasManyAnswers = false
    /// False if an error must not quote the answer at all: it may hold secrets of any record.
    package var mayQuoteAnswer = true
    /// Changes nothing at the upstream, whatever its method: it may be sent twice, and its answer may be a large list.
    package var isReading = false
    /// A reading that is not repeated if its answer is lost: it moves a scroll on.
    package var isSentOnce = false
    /// The call of the batch that it was an element of; nil if it was sent by itself.
    package var batchCall: String?

    package init(method: String = "GET", path: String, headers: [Header] = [], body: JSONText? = nil) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        isReading = method == "GET"
    }

    /// Asks for a JSON document with a JSON document.
    static func query(_ path: String, _ body: JSONText?) -> WireRequest {
        var headers = [Header.json]
        if body != nil { headers.append(Header("Content-Type", "application/json")) }
        var request = WireRequest(method: "POST", path: path, headers: headers, body: body)
        request.isReading = true
        return request
    }

    /// Asks for a JSON document.
    static func get(_ path: String) -> WireRequest { WireRequest(path: path, headers: [.json, .current]) }

    /// Posts a JSON document and asks for one. No error repeats `secrets`, or the texts of the answer's
    /// `secretMembers`.
    static func post(
        _ path: String, _ body: JSONText, secrets: [String], secretMembers: Set<String>
    ) -> WireRequest {
        let headers = [Header.json, Header("Content-Type", "application/json")]
        var request = WireRequest(method: "POST", path: path, headers: headers, body: body)
        request.secrets = secrets
        request.secretMembers = secretMembers
        return request
    }

    /// Asks for bytes of any type. `address` is a path below the base address, or a whole address on another host.
    package static func download(_ address: String) -> WireRequest {
        WireRequest(path: address, headers: [Header("Accept", "*/*")])
    }

    /// Adds the headers that the schema wants in every request. They replace what all reads are sent with, and no header that only
    /// this request has. `Accept` is only for requests for JSON.
    package mutating func add(_ more: [UpstreamPlan.Header]) {
        for header in more {
            if header.name.lowercased() == "accept", !headers.contains(.json) { continue }
            headers.removeAll { [.json, .current].contains($0) && $0.isNamed(header.name) }
            guard !headers.contains(where: { $0.isNamed(header.name) }) else { continue }
            headers.append(Header(header.name, header.value))
        }
    }

    /// The same request with a token, which errors must not repeat either; unchanged without one.
    package func authorized(by token: String?, at place: TokenPlace) -> WireRequest {
        token.map { place.authorizing(self, by: $0) } ?? self
    }
}
