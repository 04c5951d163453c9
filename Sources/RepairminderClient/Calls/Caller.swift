import Foundation

/// Sends calls, repeats those that failed for a passing reason, and reads the answers.
struct Caller: Sendable {
    let transport: any ClientTransport
    var token: DaemonToken?
    var retry: RetryPolicy
    /// Waits between two attempts.
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// The answer to a call that succeeded.
    struct Answer: Sendable {
        var status: Int
        var headers: [HeaderField]
        /// `null` if there is no body.
        var body: JSONValue

        func header(_ name: String) -> String? { headers.first(named: name) }
    }

    /// The answer as JSON.
    func json(_ call: Call) async throws(ClientError) -> Answer {
        try await repeating(call) { (response) throws(ClientError) in
            let bytes = try await response.body.collect()
            let body = bytes.isEmpty ? .null : try Self.value(bytes, call)
            return Answer(status: response.status, headers: response.headers, body: body)
        }
    }

    /// The answer as an object that the library has a type for.
    func document<Document: JSONDocument>(_ call: Call, as type: Document.Type) async throws(ClientError) -> Document {
        guard let json = try await json(call).body.object, let document = Document(json: json) else {
            throw .unexpected("\(call.method) \(call.path) answered no \(type); is the daemon much older?")
        }
        return document
    }

    /// The answer once its head has come.
    func response(_ call: Call) async throws(ClientError) -> ClientResponse {
        try await repeating(call) { (response) throws(ClientError) in response }
    }

    /// One page of a list.
    func page<Item>(
        _ call: Call, _ read: (JSONObject) -> Item?
    ) async throws(ClientError) -> Page<Item> {
        let body = try await json(call).body
        guard let data = body["data"]?.array else {
            throw .unexpected("\(call.path) answered no list; is the daemon much older?")
        }
        return Page(
            items: data.compactMap(\.object).compactMap(read),
            next: body["next"].flatMap { $0.isNull ? nil : $0.plain },
            total: body["total"]?.int,
            isComplete: body["complete"]?.bool ?? true)
    }

    /// A list whose pages are asked for one after the other.
    func pages<Item>(_ call: Call, _ read: @escaping @Sendable (JSONObject) -> Item?) -> Pages<Item> {
        Pages { (cursor) async throws(ClientError) in
            var call = call
            if let cursor { call.query.append(QueryItem("cursor", cursor)) }
            return try await page(call, read)
        }
    }

    // MARK: Attempts

    private func repeating<Value>(
        _ call: Call, _ read: (ClientResponse) async throws(ClientError) -> Value
    ) async throws(ClientError) -> Value {
        var attempt = 1
        while true {
            do throws(ClientError) {
                let response = try await transport.send(call.request(token: try secret()))
                return try await read(try await succeeded(call, response))
            } catch {
                let pause = retry.pause(after: error, attempt: attempt, isRepeatable: call.isRepeatable)
                guard let pause else { throw error }
                try await wait(pause)
                attempt += 1
            }
        }
    }

    /// Waits before another attempt.
    func wait(_ duration: Duration) async throws(ClientError) {
        do { try await pause(duration) } catch { throw .cancelled }
    }

    /// Throws what the daemon reports instead of success. 304 is one: it was asked for.
    private func succeeded(_ call: Call, _ response: ClientResponse) async throws(ClientError) -> ClientResponse {
        guard !(200..<300).contains(response.status), response.status != 304 else { return response }
        let bytes = try await response.body.collect(limit: 16 << 20)
        guard let json = (try? JSONValue(utf8: bytes))?.object, json["title"] != nil else {
            throw .unexpected(
                "\(call.method) \(call.path) answered \(response.status) without a reason; is this the daemon?")
        }
        let seconds = response.header("Retry-After").flatMap(Int.init)
        throw .problem(
            Problem(json: json, status: response.status, retryAfter: seconds.map { Duration.seconds($0) }))
    }

    private static func value(_ bytes: [UInt8], _ call: Call) throws(ClientError) -> JSONValue {
        do throws(JSONFailure) {
            return try JSONValue(utf8: bytes)
        } catch {
            throw .unexpected(
                "\(call.method) \(call.path) answered something that is not JSON: \(error.message) at byte \(error.offset)"
            )
        }
    }

    private func secret() throws(ClientError) -> String? {
        switch token {
        case nil: return nil
        case .text(let text): return text
        case .file(let path):
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw .unreachable("the token cannot be read from \(path); may this user read it?")
            }
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
