package import EntitySchema
package import JSONText

/// An upstream over HTTP, spoken as its schema says.
package struct HTTPUpstream: Upstream {
    private let plan: UpstreamPlan
    private let baseURL: String
    private let transport: any HTTPTransport
    private let token: BearerToken?
    private let now: @Sendable () -> Timestamp
    private let deadline: Duration

    /// `baseURL` replaces the schema's; `deadline` is for each exchange as a whole.
    package init(
        plan: UpstreamPlan, baseURL: String? = nil, transport: any HTTPTransport, token: BearerToken?,
        deadline: Duration = .seconds(60), now: @escaping @Sendable () -> Timestamp
    ) {
        self.plan = plan
        self.baseURL = baseURL ?? plan.baseURL
        self.transport = transport
        self.token = token
        self.deadline = deadline
        self.now = now
    }

    package func account() async throws(UpstreamError) -> String? {
        guard let account = plan.account else { return nil }
        let response = try await send("GET", account.path, headers: Self.acceptJSON, body: nil)
        guard let id = account.id.value(in: try json(response, account.path))?.plain, !id.isEmpty else {
            throw .malformed(
                "\(account.path) answered no \(account.id.description), which tells whose records these are")
        }
        return id
    }

    package func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        let list = request.list
        let address = PageAddress(request, base: BaseAddress(baseURL))
        let response = try await send("GET", address.path, headers: Self.acceptJSON, body: nil)
        let body = try json(response, request.path)
        guard let records = list.records.value(in: body), records.kind == .array else {
            throw .malformed("\(request.path) answered no list at \(list.records.description)")
        }
        let count = records.elements.count
        let total = list.total?.value(in: body)?.wholeNumber
        return Page(
            records: records, count: count, total: total,
            next: try address.next(after: response, body, count: count, total: total))
    }

    package func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        guard let single = entity.pull?.single, let path = entity.recordPath(of: known) else { return nil }
        let response: HTTPResponse
        do throws(UpstreamError) {
            response = try await send("GET", path, headers: Self.acceptJSON, body: nil)
        } catch .gone {
            return nil
        }
        guard let record = single.place.value(in: try json(response, path)), record.kind == .object else {
            throw .malformed("\(path) answered no record at \(single.place.description)")
        }
        return RemoteRecord(record, version: version(of: record, response))
    }

    package func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> RemoteRecord? {
        var headers: [HTTPHeader] = []
        if let name = plan.idempotencyHeader { headers.append(HTTPHeader(name, idempotencyKey)) }
        if let version = request.version { headers.append(HTTPHeader(versionHeader, version)) }
        if request.body != nil { headers.append(HTTPHeader("Content-Type", "application/json")) }
        let response = try await send(request.method, request.path, headers: headers, body: request.body)
        guard !response.body.isEmpty else { return nil }
        // Acknowledged all the same when the answer holds no record: the next pull brings it.
        guard let body = try? JSONText(response.body), let record = request.record.value(in: body) else { return nil }
        return record.kind == .object ? RemoteRecord(record, version: version(of: record, response)) : nil
    }

    private var versionHeader: String {
        if case .field(_, let header) = plan.version { header } else { "If-Match" }
    }

    private func version(of record: JSONText, _ response: HTTPResponse) -> String? {
        switch plan.version {
        case nil: nil
        case .etag: response.header("ETag")
        case .field(let name, _): record[name]?.plain
        }
    }

    package func probe() async throws(UpstreamError) {
        let request = HTTPRequest(url: baseURL + plan.probe, deadline: min(deadline, .seconds(10)))
        let status: Int
        do {
            status = try await transport.send(request).status
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .unreachable(let message), .ambiguous(let message), .unacceptable(let message): throw .offline(message)
            }
        }
        // Any other answer shows that it works, be it only by refusing a caller without a token.
        guard status < 500 else { throw .unclear(status: status, "GET \(plan.probe) answered \(status)") }
    }

    // MARK: One exchange

    private static let acceptJSON = [HTTPHeader("Accept", "application/json")]

    private func json(_ response: HTTPResponse, _ path: String) throws(UpstreamError) -> JSONText {
        do {
            return try JSONText(response.body)
        } catch {
            throw .malformed("\(path) answered \(error)")
        }
    }

    /// Throws for every status but 2xx. A refused token is read again from its file once.
    private func send(
        _ method: String, _ path: String, headers: [HTTPHeader], body: JSONText?
    ) async throws(UpstreamError) -> HTTPResponse {
        for isRepeat in [false, true] {
            var headers = headers
            if let token { headers.append(HTTPHeader("Authorization", "Bearer \(token.current)")) }
            let request = HTTPRequest(
                method: method, url: baseURL + path, headers: headers, body: body.map { Array($0.bytes) },
                deadline: deadline)
            let response: HTTPResponse
            do {
                response = try await transport.send(request)
            } catch {
                throw Self.sorted(error)
            }
            if response.status == 401, !isRepeat, token?.reload() == true { continue }
            if let error = sorted(response, method, path) { throw error }
            return response
        }
        throw .unauthorized("the upstream does not accept the token")
    }

    private static func sorted(_ error: TransportError) -> UpstreamError {
        switch error {
        case .unreachable(let message): .offline(message)
        case .ambiguous(let message): .unclear(status: nil, message)
        case .unacceptable(let message): .malformed(message)
        case .cancelled: .cancelled
        }
    }

    private func sorted(_ response: HTTPResponse, _ method: String, _ path: String) -> UpstreamError? {
        let status = response.status
        if (200..<300).contains(status) { return nil }
        let message = "\(method) \(path.prefix { $0 != "?" }) answered \(status)\(detail(response))"
        let retryAfter = response.header("Retry-After").flatMap { RetryAfter.delay($0, now: now()) }
        switch status {
        case 401: return .unauthorized(message)
        case 404, 410: return .gone(status: status, message)
        case 409, 412: return .changed(status: status, message)
        case 429: return .throttled(retryAfter ?? .seconds(30), message)
        case 503 where retryAfter != nil: return .throttled(retryAfter ?? .seconds(30), message)
        case 408, 425, 500...599: return .unclear(status: status, message)
        case 300..<400:
            return .refused(status: status, "\(message); redirects are not followed, correct upstream.base_url")
        default: return .refused(status: status, message)
        }
    }

    /// The upstream's own words, if it has any.
    private func detail(_ response: HTTPResponse) -> String {
        guard let place = plan.errorMessage, let body = try? JSONText(response.body),
            let text = place.value(in: body)?.plain, !text.isEmpty
        else { return "" }
        return ": \(text.prefix(500))"
    }
}
