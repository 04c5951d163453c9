internal import EntitySchema
internal import JSONText

/// A body, of a request or of its answer, that is too large to be held.
struct Transfer: Sendable {
    var source: BodySource?
    var sink: BodySink?
    /// The most bytes that `sink` takes.
    var limit = 0

    /// A slow link may take long but must keep moving, at this many bytes a second on the whole.
    private static let leastSpeed = 8 << 10

    func apply(to request: inout HTTPRequest) {
        request.source = source
        request.sink = sink
        guard source != nil || sink != nil else { return }
        let size = source?.size ?? limit
        request.stall = request.deadline
        request.deadline += .seconds(size / Self.leastSpeed)
        if sink != nil { request.maximumBody = max(limit, 1) }
    }
}

/// One request below the upstream's address and its answer, with every failure sorted by what to do about it.
struct HTTPCaller: Sendable {
    /// Nil while nobody has said where the upstream is: then nothing is sent.
    let baseURL: String?
    let transport: any HTTPTransport
    /// For each exchange as a whole.
    var deadline: Duration
    /// The largest answer that is taken, in bytes.
    let maximumBody: Int
    /// Where an error answer keeps its text.
    let errorMessage: Place?
    let clock: ServerClock?
    let now: @Sendable () -> Timestamp

    /// One record; a page may be larger.
    private static let largestAnswerToChange = 2 << 20

    static let missingAddress = "the upstream's address is missing; set upstream.base_url in the configuration"

    /// The same with a shorter deadline, if this is one.
    func within(_ deadline: Duration) -> HTTPCaller {
        var caller = self
        caller.deadline = min(deadline, self.deadline)
        return caller
    }

    /// Returns an answer of any status. An error that is thrown repeats neither the token nor `secrets`.
    func send(
        _ method: String, _ path: String, headers: [HTTPHeader] = [], body: JSONText? = nil, token: String? = nil,
        secrets: [String] = [], transfer: Transfer = Transfer()
    ) async throws(UpstreamError) -> HTTPResponse {
        guard let baseURL else { throw .held(Self.missingAddress) }
        var headers = headers
        if let token { headers.append(HTTPHeader("Authorization", "Bearer \(token)")) }
        var request = HTTPRequest(
            method: method, url: baseURL + path, headers: headers, body: body.map { Array($0.bytes) },
            deadline: deadline,
            maximumBody: method == "GET" ? maximumBody : min(maximumBody, Self.largestAnswerToChange))
        transfer.apply(to: &request)
        let sentAt = clock?.instant
        do {
            let response = try await transport.send(request)
            if let sentAt { clock?.observe(response, sentAt: sentAt) }
            return response
        } catch {
            let failure: UpstreamError =
                switch error {
                case .unreachable(let message): .offline(message)
                case .ambiguous(let message): .unclear(status: nil, message)
                case .unacceptable(let message): .malformed(message)
                case .cancelled: .cancelled
                }
            throw failure.withoutSecrets(secrets + [token].compactMap(\.self))
        }
    }

    /// An answer whose objects name each member once, as nobody can tell which of two was meant.
    func json(_ response: HTTPResponse, _ path: String) throws(UpstreamError) -> JSONText {
        do {
            return try JSONText(unambiguous: response.body)
        } catch {
            throw .malformed("\(path) answered what cannot be used (\(error)); nothing of it was taken")
        }
    }

    /// What an answer of this status means; nil for 2xx. The error quotes the upstream's words as far as `quoting` allows.
    func failure(
        _ response: HTTPResponse, _ method: String, _ path: String, quoting: Quoting
    ) -> UpstreamError? {
        guard !(200..<300).contains(response.status) else { return nil }
        let received = quoting.fields.isEmpty ? [] : (try? JSONText(response.body))?.texts(of: quoting.fields) ?? []
        let words = quoting.isAllowed ? detail(response) : ""
        return failure(response, "\(method) \(path.prefix { $0 != "?" }) answered \(response.status)\(words)")
            .withoutSecrets(quoting.secrets + received)
    }

    private func failure(_ response: HTTPResponse, _ message: String) -> UpstreamError {
        let status = response.status
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

    private static let longestDetail = 500

    /// The upstream's own words, if it has any; `…` shows where they were cut off.
    private func detail(_ response: HTTPResponse) -> String {
        guard let place = errorMessage, let body = try? JSONText(response.body),
            let text = place.value(in: body)?.plain, !text.isEmpty
        else { return "" }
        return text.count <= Self.longestDetail ? ": \(text)" : ": \(text.prefix(Self.longestDetail))…"
    }
}

/// What an error may repeat of an answer.
struct Quoting: Sendable {
    /// False where the answer may hold any record of an entity with secrets.
    var isAllowed = true
    /// What was sent and must not be repeated: the token, secret fields, answers of a sign-in.
    var secrets: [String] = []
    /// The members, wherever they are in the answer, whose texts must not be repeated.
    var fields: Set<String> = []
}

extension JSONText {
    /// The texts of all members of these names, at any depth.
    fileprivate func texts(of names: Set<String>) -> [String] {
        switch kind {
        case .array: elements.flatMap { $0.texts(of: names) }
        case .object:
            members.flatMap { names.contains($0.key) ? $0.value.allTexts : $0.value.texts(of: names) }
        default: []
        }
    }

    private var allTexts: [String] {
        switch kind {
        case .array: elements.flatMap(\.allTexts)
        case .object: members.flatMap(\.value.allTexts)
        case .string, .number: plain.isEmpty ? [] : [plain]
        default: []
        }
    }
}
