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
        let body = try await json("GET", account.path)
        guard let id = body.at(path: account.id)?.plain, !id.isEmpty else {
            throw .malformed("\(account.path) answered no \(account.id), which tells whose records these are")
        }
        return id
    }

    package func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        let pagination = plan.pagination
        var query = "\(pagination.page)=\(request.page)&\(pagination.size)=\(pagination.pageSize)"
        if let since = request.since { query += "&\(since.parameter)=\(Entity.percentEncoded(since.time))" }
        let body = try await json("GET", "\(request.path)?\(query)")
        guard let records = body.at(path: plan.records), records.kind == .array else {
            let place = plan.records.isEmpty ? "the answer" : plan.records
            throw .malformed("\(request.path) answered no list at \(place)")
        }
        let count = records.elements.count
        let total = pagination.total.flatMap { body.at(path: $0)?.integer }
        let isLast: Bool
        if let pages = pagination.pages.flatMap({ body.at(path: $0)?.integer }) {
            isLast = request.page >= pages
        } else if let total {
            isLast = request.page * pagination.pageSize >= total
        } else {
            isLast = count < pagination.pageSize
        }
        // An empty page is the end whatever the counts say, or a list that shrinks would be read for ever.
        return Page(records: records, count: count, total: total, isLast: isLast || count == 0)
    }

    package func record(of entity: Entity, key: String) async throws(UpstreamError) -> JSONText? {
        guard let path = entity.recordPath(key: key) else { return nil }
        let body: JSONText
        do throws(UpstreamError) {
            body = try await json("GET", path)
        } catch .gone {
            return nil
        }
        guard let record = body.at(path: plan.records), record.kind == .object else {
            throw .malformed("\(path) answered no record")
        }
        return record
    }

    package func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> JSONText? {
        var headers: [HTTPHeader] = []
        if let name = plan.idempotencyHeader { headers.append(HTTPHeader(name, idempotencyKey)) }
        if request.body != nil { headers.append(HTTPHeader("Content-Type", "application/json")) }
        let response = try await send(request.method, request.path, headers: headers, body: request.body)
        guard !response.body.isEmpty else { return nil }
        // Acknowledged all the same when the answer holds no record: the next pull brings it.
        guard let body = try? JSONText(response.body), let record = body.at(path: plan.records) else { return nil }
        return record.kind == .object ? record : nil
    }

    package func probe() async throws(UpstreamError) {
        do {
            _ = try await transport.send(HTTPRequest(url: baseURL + plan.probe, deadline: min(deadline, .seconds(10))))
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .unreachable(let message), .ambiguous(let message), .unacceptable(let message): throw .offline(message)
            }
        }
    }

    // MARK: One exchange

    private func json(_ method: String, _ path: String) async throws(UpstreamError) -> JSONText {
        let response = try await send(method, path, headers: [HTTPHeader("Accept", "application/json")], body: nil)
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
        guard let path = plan.errorMessage, let body = try? JSONText(response.body),
            let text = body.at(path: path)?.plain, !text.isEmpty
        else { return "" }
        return ": \(text.prefix(500))"
    }
}
