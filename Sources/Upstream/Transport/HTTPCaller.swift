internal import EntitySchema
internal import JSONText

/// Sends one request below the upstream's base address and classifies every failure by what to do about it.
struct HTTPCaller: Sendable {
    /// Nil while no base address is configured: then nothing is sent.
    let baseURL: String?
    let transport: any HTTPTransport
    /// For each exchange as a whole.
    var deadline: Duration
    /// The largest response that is accepted, in bytes.
    let maximumBody: Int
    /// How an answer says whether the request succeeded.
    var answers: AnswerPlan
    /// Sent with every request.
    let headers: [UpstreamPlan.Header]
    /// The credentials that stand in these.
    var secrets: SecretFiles?
    /// Where the token is sent.
    let tokenPlace: TokenPlace
    let clock: ServerClock?
    /// Nil if the upstream has no limits.
    var budget: RequestBudget?
    var turn = RequestTurn()
    let now: @Sendable () -> Timestamp

    /// One record; a page may be larger.
    private static let largestAnswerToChange = 2 << 20

    static let missingAddress = "the upstream's address is missing; set upstream.base_url in the configuration"

    /// The same with a deadline of at most this.
    func within(_ deadline: Duration) -> HTTPCaller {
        var caller = self
        caller.deadline = min(deadline, self.deadline)
        return caller
    }

    /// Returns a response of any status. An error that it throws repeats neither the token nor the request's secrets.
    func send(
        _ call: WireRequest, token: String? = nil, transfer: Transfer = Transfer()
    ) async throws(UpstreamError) -> HTTPResponse {
        guard let baseURL else { throw .held(Self.missingAddress) }
        let call = try prepared(call, token)
        var request = HTTPRequest(call, base: baseURL, deadline: deadline)
        let isLarge = call.isReading || call.hasManyAnswers
        request.maximumBody = isLarge ? maximumBody : min(maximumBody, Self.largestAnswerToChange)
        transfer.apply(to: &request)
        request.isSentOnce = budget != nil || call.isSentOnce
        let isChange = !call.isReading
        var outcome = try await exchange(request, isChange)
        if case .failure(.dropped) = outcome, !call.isSentOnce { outcome = try await exchange(request, isChange) }
        do {
            return try outcome.get()
        } catch {
            throw UpstreamError(error).withoutSecrets(call.secrets)
        }
    }

    /// Sends it once, when the budget allows it, and the fence too if it is a change.
    private func exchange(
        _ request: HTTPRequest, _ isChange: Bool
    ) async throws(UpstreamError) -> Result<HTTPResponse, TransportError> {
        let passage = try await pass()
        defer { passage.leave() }
        if isChange, let fence = turn.fence { try await fence() }
        let sentAt = clock?.instant
        do {
            let response = try await transport.send(request)
            if let budget { passage.leave(rateLimit(of: response).stated(response, budget.limits)) }
            if let sentAt { clock?.observe(response, sentAt: sentAt) }
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    /// Waits for the budget, if there is one.
    func pass() async throws(UpstreamError) -> Passage {
        do {
            return Passage(try await budget?.enter(turn.urgency, waits: turn.waits), budget)
        } catch {
            throw .cancelled
        }
    }

    /// The response's JSON, in which every object names each member once: of two, readers differ in which one counts.
    ///
    /// Throws `.barred` for a web page: a gateway or a sign-in page answered instead of the upstream. Throws `.unclear` when
    /// nothing came, and it may have been cut. The error names members only if it `mayQuote` the answer.
    func json(_ response: HTTPResponse, _ path: String, mayQuote: Bool = false) throws(UpstreamError) -> JSONText {
        guard !response.isBlank || response.isEndCertain else {
            throw .unclear(status: response.status, "\(path) answered without content, but could have been cut")
        }
        do {
            return try response.unambiguousJSON
        } catch {
            guard response.isMarkup else {
                let reason = mayQuote ? error : error.withoutQuote
                throw .malformed("\(path) answered unusable JSON (\(reason)); none of it was used")
            }
            throw .barred(status: response.status, Self.page(response, to: path, " (\(response.shownType))"))
        }
    }

    private static func page(_ response: HTTPResponse, to call: String, _ quote: String) -> String {
        "\(call) answered \(response.status) with a web page where JSON belongs\(quote)"
    }

    private static func redirect(_ response: HTTPResponse) -> String {
        let target = response.redirectTarget.map { " to \($0)" } ?? ""
        return "\(target); redirects are not followed: correct upstream.base_url, the path in the schema, or the token"
    }

    /// What a response means; nil for success. The error quotes the upstream's text within what the request allows.
    func failure(_ response: HTTPResponse, to request: WireRequest) -> UpstreamError? {
        let rule = answers.rule(for: response)
        guard rule?.means != .ok, rule != nil || !(200..<300).contains(response.status) else { return nil }
        let body = response.json
        let call = request.shownCall
        let error: UpstreamError
        if rule == nil, response.barsMarkup, body == nil, response.isMarkup {
            let quote = request.mayQuote(body) ? response.quote() : ""
            let message =
                response.redirectTarget == nil
                ? Self.page(response, to: call, quote)
                : "\(call) answered \(response.status)\(Self.redirect(response))"
            error = .barred(status: response.status, message, isPage: true)
        } else {
            // A code that the schema knows is no secret, and says what to do about the account.
            let words =
                request.mayQuote(body)
                ? ErrorText(answers).words(of: response, body)
                : body.flatMap(answers.accountError).map { ": \($0)" } ?? ""
            let message = "\(call) answered \(response.status)\(words)"
            error =
                rule.map { failure(of: response, message, body, by: $0) }
                ?? failureByStatus(of: response, message, body)
        }
        return error.withoutSecrets(request.secrets + headerSecrets + request.secrets(in: body))
    }

    /// Whether the token is not accepted, so that another may help.
    func refusesToken(_ response: HTTPResponse) -> Bool {
        answers.rule(for: response).map { $0.means == .signedOut } ?? (response.status == 401)
    }

    private func failure(
        of response: HTTPResponse, _ message: String, _ body: JSONText?, by rule: AnswerRule
    ) -> UpstreamError {
        let status = response.status
        return switch rule.means {
        case .ok, .unclear, .repeated: .unclear(status: status, message)
        case .refused: .refused(status: status, message)
        case .hold: .barred(status: status, message)
        case .signedOut: .unauthorized(message)
        case .locked: .locked(status: status, message)
        case .gone: .gone(status: status, message)
        case .changed: .changed(status: status, message)
        case .throttled: .throttled(delay(of: response, body, rule.until), message)
        }
    }

    /// Times in a response are by its server's clock.
    private func rateLimit(of response: HTTPResponse) -> RateLimit {
        let measured = (clock?.offset).map { now() + $0 }
        guard let date = response.date else { return RateLimit(now: measured ?? now()) }
        let isDoubtful = measured.map { max($0.since(date), date.since($0)) > .seconds(60) } ?? false
        return RateLimit(now: date, measured: isDoubtful ? measured : nil)
    }

    private func delay(
        of response: HTTPResponse, _ body: JSONText? = nil, _ until: AnswerRule.Until? = nil
    ) -> Duration {
        let limit = rateLimit(of: response)
        return limit.delay(response, body, until)
            ?? budget.flatMap { $0.delay(limit.stated(response, $0.limits)) }.map { min($0, RateLimit.longest) }
            ?? RateLimit.usualDelay
    }

    /// What the answer means where no rule of the schema fits it.
    private func failureByStatus(of response: HTTPResponse, _ message: String, _ body: JSONText?) -> UpstreamError {
        let status = response.status
        // 403: a second limit, such as GitHub's of requests at a time. A refusal for good names no time.
        if [403, 503].contains(status),
            let delay = response.header("Retry-After").flatMap({ rateLimit(of: response).delay($0) })
        {
            return .throttled(delay, message)
        }
        switch status {
        case 401: return .unauthorized(message)
        case 429: return .throttled(delay(of: response), message)
        // 421: a gateway sent the request to the wrong server.
        case 421, 511: return .barred(status: status, message)
        case 423: return .locked(status: status, message)
        // No request is conditional, so a 304 comes from a broken cache in between. A status above 599 is invalid, and means
        // what a 5xx does (RFC 9110, 15).
        case 304, 408, 425, 500...: return .unclear(status: status, message)
        case _ where body.map(answers.concernsAccount) ?? false: return .barred(status: status, message)
        // Several records fit the request, such as those with one external key (Salesforce).
        case 300 where body != nil && response.redirectTarget == nil: return .refused(status: status, message)
        case 300..<400:
            return .barred(status: status, "\(message)\(Self.redirect(response))")
        case 403 where RateLimit.isUsedUp(response):
            return .throttled(delay(of: response), message)
        case 402, 403, 407: return .barred(status: status, message)
        case 404, 410: return .gone(status: status, message)
        // 428: it wants to know the version that the change is based on (RFC 6585), which reading the record says.
        case 409, 412, 428: return .changed(status: status, message)
        default: return .refused(status: status, message)
        }
    }
}

extension HTTPCaller {
    init(_ access: UpstreamAccess, deadline: Duration, maximumBody: Int = 1 << 20) {
        let plan = access.plan
        self.init(
            baseURL: access.baseURL ?? plan.baseURL, transport: access.transport, deadline: deadline,
            maximumBody: maximumBody, answers: plan.answers, headers: plan.headers, secrets: access.secrets,
            tokenPlace: plan.tokenPlace, clock: access.clock, budget: access.budget, now: access.now)
    }

    /// The same for whole addresses on other hosts. They get none of the upstream's headers, and their clocks and limits
    /// are not the upstream's.
    var elsewhere: HTTPCaller {
        HTTPCaller(
            baseURL: "", transport: transport, deadline: deadline, maximumBody: maximumBody, answers: answers,
            headers: [], tokenPlace: tokenPlace, clock: nil, now: now)
    }
}

extension UpstreamError {
    /// What a request without a complete response means.
    init(_ error: TransportError) {
        self =
            switch error {
            case .unsendable(let message): .refused(status: nil, message)
            case .unreachable(let message): .offline(message)
            case .ambiguous(let message), .dropped(let message): .unclear(status: nil, message)
            case .unacceptable(let message): .malformed(message)
            case .cancelled: .cancelled
            }
    }
}

extension AnswerPlan {
    /// The schema's rule for a response; nil if none fits.
    func rule(for response: HTTPResponse) -> AnswerRule? {
        guard !rules.isEmpty else { return nil }
        var body: JSONText??
        return rules.first { rule in
            rule.fits(status: response.status, header: response.header) {
                let read = body ?? response.json
                body = .some(read)
                return read
            }
        }
    }
}

/// A request or response body that is too large to hold in memory.
struct Transfer: Sendable {
    var source: BodySource?
    var sink: BodySink?
    /// The most bytes that `sink` takes.
    var limit = 0

    /// A slow link may take long, but must move at least this many bytes a second on average.
    private static let leastSpeed = 8 << 10

    func apply(to request: inout HTTPRequest) {
        request.source = source
        request.sink = sink
        guard source != nil || sink != nil else { return }
        let size = source?.size ?? limit
        request.stall = request.deadline
        request.deadline += .seconds(size / Self.leastSpeed)
        guard sink != nil else { return }
        request.maximumBody = max(limit, 1)
        request.mustBeWhole = true
    }
}
