/// One call of the API, before it becomes a request.
struct Call: Sendable {
    var method: String
    /// Encoded.
    var path: String
    var query: [QueryItem] = []
    var headers: [HeaderField] = []
    var body: Body = .none
    /// Whether the call may be sent again when it is not known whether it arrived.
    var isRepeatable: Bool
    /// How long the daemon may take before its answer begins, besides the usual.
    var wait = Duration.zero

    enum Body: Sendable {
        case none
        case json(JSONValue)
        case bytes([UInt8], type: String)
    }

    /// The usual silence that a call bears.
    private static let patience = Duration.seconds(60)

    /// A read.
    static func get(_ path: String, _ query: [QueryItem] = []) -> Call {
        Call(method: "GET", path: path, query: query, isRepeatable: true)
    }

    /// A write that the daemon does once for each key, however often it comes.
    static func write(
        _ method: String, _ path: String, _ query: [QueryItem] = [], body: JSONValue? = nil, key: IdempotencyKey?
    ) -> Call {
        Call(
            method: method, path: path, query: query,
            headers: [HeaderField("Idempotency-Key", (key ?? IdempotencyKey()).text)],
            body: body.map(Body.json) ?? .none, isRepeatable: true)
    }

    /// The request of this call.
    func request(token: String?) -> ClientRequest {
        var request = ClientRequest(
            method: method, target: path + Self.encoded(query), headers: headers, patience: Self.patience + wait)
        if request.header("Accept") == nil { request.headers.append(HeaderField("Accept", "application/json")) }
        if let token { request.headers.append(HeaderField("Authorization", "Bearer \(token)")) }
        switch body {
        case .none:
            // The daemon refuses a write of any other type, even one without a body, to keep web pages out.
            if method != "GET" { request.headers.append(HeaderField("Content-Type", "application/json")) }
        case .json(let value):
            if request.header("Content-Type") == nil {
                request.headers.append(HeaderField("Content-Type", "application/json"))
            }
            request.body = value.bytes
        case .bytes(let bytes, let type):
            request.headers.append(HeaderField("Content-Type", type))
            request.body = bytes
        }
        return request
    }

    private static func encoded(_ query: [QueryItem]) -> String {
        guard !query.isEmpty else { return "" }
        let items = query.map { PathText.encode($0.name) + "=" + PathText.encode($0.value) }
        return "?" + items.joined(separator: "&")
    }
}

/// A parameter of a query, as text.
public struct QueryItem: Sendable, Hashable {
    /// The name, such as `total.gte`.
    public var name: String
    /// The value; the library encodes it.
    public var value: String

    /// A parameter.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
