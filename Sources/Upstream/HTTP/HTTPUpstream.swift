package import EntitySchema
package import JSONText

/// An upstream over HTTP, spoken as its schema says.
package struct HTTPUpstream: Upstream {
    private let plan: UpstreamPlan
    let caller: HTTPCaller
    private let token: (any Credentials)?
    private let identity = IdentityMemory()

    /// `baseURL` replaces the schema's; `deadline` is for each exchange as a whole, `maximumBody` for each answer, in
    /// bytes. `clock` learns from every answer.
    package init(
        plan: UpstreamPlan, baseURL: String? = nil, transport: any HTTPTransport, token: (any Credentials)?,
        deadline: Duration = .seconds(60), maximumBody: Int = 8 << 20, clock: ServerClock? = nil,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.plan = plan
        self.token = token
        caller = HTTPCaller(
            baseURL: baseURL ?? plan.baseURL, transport: transport, deadline: deadline, maximumBody: maximumBody,
            errorMessage: plan.errorMessage, clock: clock, now: now)
    }

    package func account() async throws(UpstreamError) -> String? {
        guard let account = plan.account else { return nil }
        let carried = try await token?.current()
        let (response, used) = try await exchange(
            "GET", account.path, headers: Self.acceptJSON, body: nil, token: carried)
        let id = try id(in: response, account)
        identity.note(account: id, of: used)
        return id
    }

    private func id(in response: HTTPResponse, _ account: UpstreamPlan.Account) throws(UpstreamError) -> String {
        guard let id = account.id.value(in: try caller.json(response, account.path))?.plain, !id.isEmpty else {
            throw .malformed(
                "\(account.path) answered no \(account.id.description), which tells whose records these are")
        }
        return id
    }

    package func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        let list = request.list
        let address = PageAddress(request, base: BaseAddress(caller.baseURL ?? ""))
        let response = try await send(
            "GET", address.path, headers: Self.acceptJSON, body: nil,
            quoting: Quoting(isAllowed: request.mayQuoteAnswer))
        let body = try caller.json(response, request.path)
        guard let records = list.records.value(in: body), records.kind == .array else {
            throw .malformed("\(request.path) answered no list at \(list.records.description)")
        }
        let count = records.elementCount
        // What else the answer says is looked for beside the records, which are nearly all of it.
        let envelope = body.leavingOut(elementsOf: records)
        let total = list.total?.value(in: envelope)?.wholeNumber
        return Page(
            records: records, count: count, total: total,
            next: try address.next(after: response, envelope, count: count, total: total))
    }

    package func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        guard let single = entity.pull?.single, let path = entity.recordPath(of: known) else { return nil }
        let response: HTTPResponse
        do throws(UpstreamError) {
            response = try await send(
                "GET", path, headers: Self.acceptJSON, body: nil,
                quoting: Quoting(isAllowed: entity.secretPlaces.isEmpty))
        } catch .gone {
            return nil
        }
        guard let record = single.place.value(in: try caller.json(response, path)), record.kind == .object else {
            throw .malformed("\(path) answered no record at \(single.place.description)")
        }
        return RemoteRecord(record, version: version(of: record, response))
    }

    package func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> RemoteRecord? {
        try await push(request, idempotencyKey, Transfer())
    }

    package func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> RemoteRecord? {
        try await push(request, idempotencyKey, Transfer(source: source))
    }

    private func push(
        _ request: PushRequest, _ idempotencyKey: String, _ transfer: Transfer
    ) async throws(UpstreamError) -> RemoteRecord? {
        let headers = request.headers(plan, idempotencyKey: idempotencyKey).map { HTTPHeader($0.name, $0.value) }
        let response = try await send(
            request.method, request.path, headers: headers, body: request.body, transfer: transfer,
            quoting: Quoting(secrets: request.secrets, fields: request.secretFields))
        guard !response.body.isEmpty else { return nil }
        // Acknowledged all the same when the answer holds no record: the next pull brings it.
        guard let body = try? JSONText(unambiguous: response.body), let record = request.record.value(in: body) else {
            return nil
        }
        return record.kind == .object ? RemoteRecord(record, version: version(of: record, response)) : nil
    }

    private func version(of record: JSONText, _ response: HTTPResponse) -> String? {
        switch plan.version {
        case nil: nil
        // A weak tag can never match (RFC 9110, 13.1.1), so a change that carried it would be refused for good.
        case .etag: response.header("ETag").flatMap { $0.hasPrefix("W/") ? nil : $0 }
        // Sent back as a header, so only what one can hold.
        case .field(let name, _):
            record[name].flatMap { $0.plain.isEmpty || !HTTPSyntax.isFieldValue($0.plain) ? nil : $0.plain }
        }
    }

    package func probe() async throws(UpstreamError) {
        let status: Int
        do throws(UpstreamError) {
            status = try await caller.within(.seconds(10)).send("GET", plan.probe).status
        } catch .cancelled {
            throw .cancelled
        } catch .held(let message) {
            throw .held(message)
        } catch {
            throw .offline(error.message)
        }
        // Any other answer shows that it works, be it only by refusing a caller without a token.
        guard status < 500 else { throw .unclear(status: status, "GET \(plan.probe) answered \(status)") }
    }

    package func networkChanged() { caller.transport.networkChanged() }

    package var missing: String? {
        get async {
            guard caller.baseURL != nil else { return HTTPCaller.missingAddress }
            return await token?.missing
        }
    }

    // MARK: One exchange

    private static let acceptJSON = [HTTPHeader("Accept", "application/json")]

    /// Throws for every status but 2xx. Nothing is sent with a token of another account than the one that was asked for
    /// last: whoever asks knows then which cache to use.
    func send(
        _ method: String, _ path: String, headers: [HTTPHeader], body: JSONText?, transfer: Transfer = Transfer(),
        quoting: Quoting = Quoting()
    ) async throws(UpstreamError) -> HTTPResponse {
        let carried = try await token?.current()
        try await requireSameAccount(carried)
        return try await exchange(
            method, path, headers: headers, body: body, token: carried, check: true, transfer: transfer,
            quoting: quoting
        ).response
    }

    /// A request whose token is refused is sent once more if there is another. Returns also the token used in the end.
    private func exchange(
        _ method: String, _ path: String, headers: [HTTPHeader], body: JSONText?, token carried: String?,
        check: Bool = false, transfer: Transfer = Transfer(), quoting: Quoting = Quoting()
    ) async throws(UpstreamError) -> (response: HTTPResponse, token: String?) {
        var used = carried
        var response = try await caller.send(
            method, path, headers: headers, body: body, token: used, secrets: quoting.secrets,
            transfer: transfer)
        if response.status == 401, let token, try await token.renew(refused: used) {
            used = try await token.current()
            if check { try await requireSameAccount(used) }
            response = try await caller.send(
                method, path, headers: headers, body: body, token: used, secrets: quoting.secrets,
                transfer: transfer)
        }
        var quoting = quoting
        quoting.secrets += [carried, used].compactMap(\.self)
        if let failure = caller.failure(response, method, path, quoting: quoting) {
            throw token == nil ? failure.ofNobody : failure
        }
        return (response, used)
    }

    /// Asks whose a token is that has not been seen before.
    private func requireSameAccount(_ token: String?) async throws(UpstreamError) {
        guard let account = plan.account, let known = identity.last, known.token != token else { return }
        let response = try await caller.send("GET", account.path, headers: Self.acceptJSON, body: nil, token: token)
        let quoting = Quoting(secrets: [token].compactMap(\.self))
        if let failure = caller.failure(response, "GET", account.path, quoting: quoting) { throw failure }
        let id = try id(in: response, account)
        guard id == known.account else {
            throw .unauthorized("the token is now that of another account (\(id)); nothing was sent with it")
        }
        identity.note(account: id, of: token)
    }
}

extension UpstreamError {
    /// The same where there is no token at all, and no sign-in to get one by.
    fileprivate var ofNobody: UpstreamError {
        guard case .unauthorized(let message) = self else { return self }
        return .unauthorized("\(message); there is no token: name its file as upstream.token_file")
    }
}
