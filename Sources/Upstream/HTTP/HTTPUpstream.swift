package import EntitySchema
package import JSONText

/// An upstream over HTTP, as its schema describes it.
package struct HTTPUpstream: Upstream {
    let plan: UpstreamPlan
    private(set) var caller: HTTPCaller
    let token: (any Credentials)?
    let identity = IdentityMemory()
    /// Nil if the schema has no `auth.check`.
    let verifier: TokenVerifier?
    let contents: ContentOrigins
    let elsewhere: @Sendable () -> [ListElsewhere]

    /// `deadline` limits each whole exchange, and `maximumBody` each response, in bytes. `elsewhere` returns the lists
    /// of other schemas; it is called only for an answer without the expected list.
    package init(
        _ access: UpstreamAccess, token: (any Credentials)?, deadline: Duration = .seconds(60),
        maximumBody: Int = 8 << 20, contents: ContentOrigins = ContentOrigins(),
        elsewhere: @escaping @Sendable () -> [ListElsewhere] = { [] }
    ) {
        plan = access.plan
        self.token = token
        self.contents = contents
        self.elsewhere = elsewhere
        verifier = plan.check.map { TokenVerifier($0) }
        caller = HTTPCaller(access, deadline: deadline, maximumBody: maximumBody)
    }

    package func taking(_ turn: RequestTurn) -> any Upstream {
        var copy = self
        copy.caller.turn = turn
        return copy
    }

    package var budget: RequestBudget.Balance? { caller.budget?.balance }

    package func account() async throws(UpstreamError) -> SignedInAccount? {
        guard let account = plan.account else { return nil }
        let carried = try await token?.current()
        let (response, used) = try await exchange(account.request, token: carried) { _ in false }
        let known = try withoutSecrets(secrets(of: carried, used)) { () throws(UpstreamError) in
            try signedIn(response, account)
        }
        identity.note(account: known.id, of: used)
        return known
    }

    func signedIn(
        _ response: HTTPResponse, _ account: UpstreamPlan.Account
    ) throws(UpstreamError) -> SignedInAccount {
        let answer = try caller.json(response, account.path)
        guard let id = account.id.value(in: answer)?.plain, !id.isEmpty else {
            throw .malformed(
                "\(account.path) answered no \(account.id.description), which identifies the account; correct "
                    + "upstream.account.id in the schema")
        }
        guard !id.utf8.contains(0) else {
            throw .malformed("\(account.path) answered an account id with a NUL character; none of the answer was used")
        }
        // It is named in messages, and sent with requests.
        guard id.utf8.count <= SignedInAccount.longestID else {
            throw .malformed(
                "\(account.path) answered an account id of more than \(SignedInAccount.longestID) bytes; correct "
                    + "upstream.account.id in the schema")
        }
        let (name, title) = (words(account.name, in: answer), words(account.title, in: answer))
        return SignedInAccount(id: id, name: name, title: title, isRepeated: response.isRepeated)
    }

    private func words(_ pattern: TextPattern?, in answer: JSONText) -> String? {
        pattern?.text { answer.at(path: $0)?.plain }?.cut(toScalars: SignedInAccount.longestName)
    }

    /// A page as the upstream answers it; see `page`.
    func served(_ request: PageRequest) async throws(UpstreamError) -> Page {
        let request = try await filled(request)
        let (response, secrets) = try await sendNotingSecrets(
            request.request, isDoubtful: { isEmpty($0, request) },
            accepts: { renewsPosition($0, request) || isUnchanged($0, request) })
        do throws(UpstreamError) {
            return try await page(in: response, request)
        } catch {
            throw suspectingToken(error.withoutSecrets(secrets))
        }
    }

    private func page(in response: HTTPResponse, _ request: PageRequest) async throws(UpstreamError) -> Page {
        let list = request.list
        let next = NextPage(after: request, base: BaseAddress(caller.baseURL ?? ""), plan.tokenPlace)
        guard !renewsPosition(response, request) else { return try renewed(response, request, next) }
        guard !isUnchanged(response, request) else { return Page(records: .array([]), count: 0, age: response.age) }
        guard let answer = try listAnswer(response, request) else { throw try await noList(in: response, request) }
        let (body, records) = (answer.body, answer.records)
        let count = records.elementCount
        // The rest is looked up in a copy without the records, which are nearly all of the response.
        let envelope = body.leavingOut(elementsOf: records)
        let total = list.total(in: envelope, response)
        let whole = { (place: Place?) in place.map(list.isInRecords) ?? false ? body : envelope }
        if let token = request.deltaToken, request.values.delta != nil, token.isIgnored(by: whole(token.full)) {
            response.share?.release()
            throw .refused(
                status: response.status, "\(request.path) no longer knows the token: it answered with the whole list")
        }
        var page = Page(
            records: answer.readable, count: count, total: next.believed(total, count: count),
            next: try next.position(
                in: response, whole(list.style.next), count: count, total: total,
                last: list.isByLastRecord ? records.elements.last.map { list.lift?.lifted($0) ?? $0 } : nil),
            age: response.age)
        (page.share, page.isPart) = (response.share, PartialAnswer.isPart(response))
        page.partial = PartialAnswer.found(
            in: response, envelope, empty: list.empty, isLast: page.next == nil, isBlank: count == 0)
        if page.next == nil {
            page.partial = page.partial ?? next.earlyEnd(whole(list.style.next), count: count, total: total)
            page.behindTotal = next.behindTotal(envelope, count: count, total: total)
            page.delta = try next.delta(in: whole(request.deltaToken?.place))
            if count > 0 {
                page.unfollowed = UnfollowedPage.found(
                    in: response, envelope, of: list, known: request.deltaToken?.place)
            }
        } else {
            page.passingDelta = try? next.delta(in: whole(request.deltaToken?.place))
        }
        return page
    }

    /// Whether it says that nothing has changed since the time that a header of the request names (RFC 9110, 15.4.5).
    private func isUnchanged(_ response: HTTPResponse, _ request: PageRequest) -> Bool {
        response.status == 304 && request.isConditional
    }

    /// Whether an error says where to go on: in a list of events, or with another cursor where one has expired. Kubernetes
    /// answers 410 so after some minutes, with a cursor for the rest of the list as it is now.
    private func renewsPosition(_ response: HTTPResponse, _ request: PageRequest) -> Bool {
        if request.renewing.contains(response.status) { return true }
        guard response.status == 410, let expired = request.position, case .cursor = request.list.style,
            plan.answers.rule(for: response) == nil, let body = response.json
        else { return false }
        let next = NextPage(after: request, base: BaseAddress(caller.baseURL ?? ""))
        guard let found = try? next.position(in: response, body, count: 0, total: nil) else { return false }
        return found != expired
    }

    private func renewed(
        _ response: HTTPResponse, _ request: PageRequest, _ next: NextPage
    ) throws(UpstreamError) -> Page {
        let body = try caller.json(response, request.path, mayQuote: request.mayQuoteAnswer)
        response.share?.release()
        guard let position = try next.position(in: response, body, count: 0, total: nil) else {
            throw .malformed(
                "\(request.path) answered \(response.status) without another position; correct since in the schema")
        }
        var page = Page(records: .array([]), count: 0, next: position)
        page.isRenewed = true
        return page
    }

    package func confirmToken() async throws(UpstreamError) {
        let carried = try await token?.current()
        if let verifier, let objection = try await verifier.objection(to: carried, by: caller) {
            _ = try await token?.renew(refused: carried)
            throw UpstreamError.unauthorized(objection).withoutSecrets(secrets(of: carried))
        }
        try await requireSameAccount(carried, again: true)
    }

    private func isEmpty(_ response: HTTPResponse, _ request: PageRequest) -> Bool {
        (try? listAnswer(response, request))?.records.elementCount == 0
    }

    private func listAnswer(
        _ response: HTTPResponse, _ request: PageRequest
    ) throws(UpstreamError) -> ListAnswer? {
        try ListAnswer(response, of: request.list) { () throws(UpstreamError) in
            try caller.json(response, request.path, mayQuote: request.mayQuoteAnswer)
        }
    }

    /// The request with what its placeholders stand for that only the upstream knows: whose records they are, and its
    /// time.
    private func filled(_ request: PageRequest) async throws(UpstreamError) -> PageRequest {
        guard request.call?.namesSurroundings == true else { return request }
        var request = request
        request.values.now = request.values.now ?? caller.now() + (caller.clock?.offset ?? .zero)
        if plan.account != nil {
            if let known = identity.last?.account {
                request.values.account = known
            } else {
                request.values.account = try await account()?.id
            }
        }
        return request
    }

    package func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await record(of: entity, known: known, mayMove: true)
    }

    private func record(
        of entity: Entity, known: JSONText, mayMove: Bool
    ) async throws(UpstreamError) -> RemoteRecord? {
        guard let single = entity.pull?.single, var request = entity.recordRequest(of: known) else { return nil }
        request.headers += plan.headersForTags
        let (response, secrets): (HTTPResponse, [String])
        do throws(UpstreamError) {
            (response, secrets) = try await sendNotingSecrets(
                request,
                isDoubtful: { response in
                    let body = try? caller.json(response, request.path)
                    return body.flatMap { single.record(in: $0, of: entity, known) } == nil
                }, accepts: { mayMove && moved($0, entity, known) != nil })
        } catch .gone {
            return nil
        } catch .unclear(status: 501, let message) {
            // It serves no single records; a read leaves nothing unclear.
            throw .refused(status: 501, message)
        }
        if mayMove, let other = moved(response, entity, known) {
            return try await record(of: entity, known: other, mayMove: false)
        }
        // As JAX-RS says that there is no such record: no content, which is none that was cut.
        if response.status == 204, response.isBlank { return nil }
        let body = try withoutSecrets(secrets) { () throws(UpstreamError) in
            try caller.json(response, request.path, mayQuote: request.mayQuote(nil))
        }
        guard !single.saysNone(body) else { return nil }
        guard let record = single.record(in: body, of: entity, known) else {
            if single.place.isNull(in: body) || single.place.isBlank(in: body) { return nil }
            let key = entity.lift?.place(of: entity.key)?.description ?? entity.key
            throw .malformed(
                "\(request.path) answered no record with \(key) at \(single.place.description); correct "
                    + "pull.record.at in the schema")
        }
        var found = RemoteRecord(record, version: version(of: record, response))
        found.isRepeated = response.isRepeated
        return found
    }

    /// Where a redirect leads to another record of the entity, as for one that was merged or renamed: that one's key. The address
    /// itself is never called.
    private func moved(_ response: HTTPResponse, _ entity: Entity, _ known: JSONText) -> JSONText? {
        guard [301, 302, 303, 307, 308].contains(response.status), plan.answers.rule(for: response) == nil,
            let key = response.header("Location").flatMap(entity.key(at:)), key != known[entity.key]?.plain
        else { return nil }
        let other = JSONText.object(members: [(entity.key, entity.keyValue(key))])
        return entity.recordPath(of: other) == nil ? nil : other
    }

    package func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        try await push(request, idempotencyKey, Transfer())
    }

    package func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> PushAnswer {
        let form = request.form(idempotencyKey: idempotencyKey)
        let body = form.map { source.enclosed(by: $0.prefix, $0.suffix) } ?? source
        return try await push(request, idempotencyKey, Transfer(source: body))
    }

    private func push(
        _ request: PushRequest, _ idempotencyKey: String, _ transfer: Transfer
    ) async throws(UpstreamError) -> PushAnswer {
        let sent = request.request(plan, idempotencyKey: idempotencyKey)
        let (response, secrets) = try await sendNotingSecrets(
            sent, transfer,
            isDoubtful: { response in
                let answer = ChangeAnswer(request: request, sent: sent, response: response, plan: plan.answers)
                return (try? answer.meaning()) == nil
            }, accepts: isRepeated)
        var quotable = sent
        quotable.secrets += secrets
        if isRepeated(response), let failure = caller.failure(response, to: quotable) {
            return .repeatedFailure(status: response.status, failure.message)
        }
        do throws(UpstreamError) {
            return try acknowledgement(
                in: ChangeAnswer(request: request, sent: quotable, response: response, plan: plan.answers))
        } catch {
            throw suspectingToken(error)
        }
    }

    /// Whether it is about an earlier attempt with the same idempotency key, and does not say what became of that.
    private func isRepeated(_ response: HTTPResponse) -> Bool {
        response.isRepeatedFailure || plan.answers.rule(for: response)?.means == .repeated
    }

    /// Throws when the answer does not say that the change was accepted.
    func acknowledgement(in answer: ChangeAnswer) throws(UpstreamError) -> PushAnswer {
        let response = answer.response
        switch try answer.meaning() {
        case .record(let record):
            return .record(
                RemoteRecord(record, version: version(of: record, response), isLater: response.status == 202))
        case .accepted(let location): return .accepted(location: location, isSilent: answer.isSilent)
        }
    }

    func version(of record: JSONText, _ response: HTTPResponse) -> String? {
        switch plan.version {
        case nil: nil
        // A weak tag never matches (RFC 9110, 13.1.1), so a change that carried it would always be refused.
        case .etag: response.header("ETag").flatMap { $0.hasPrefix("W/") ? nil : $0 }
        // It is sent back as a header, so it must be a valid field value.
        case .field(let field):
            record.at(path: field.place).flatMap { value in
                value.plain.isEmpty || !HTTPSyntax.isFieldValue(value.plain) ? nil : value.plain
            }
        }
    }

    package func probe() async throws(UpstreamError) {
        let status: Int
        do throws(UpstreamError) {
            status = try await caller.within(.seconds(10)).send(plan.probeRequest).status
        } catch .cancelled {
            throw .cancelled
        } catch .held(let message) {
            throw .held(message)
        } catch {
            throw .offline(error.message)
        }
        // Any other status shows that it works, even a refusal of a caller without a token.
        guard status < 500 else { throw .unclear(status: status, "GET \(plan.probe) answered \(status)") }
    }

    package func networkChanged() { caller.transport.networkChanged() }

    package var missing: String? {
        get async {
            guard caller.baseURL != nil else { return HTTPCaller.missingAddress }
            if let missing = caller.missingSecret { return missing }
            return await token?.missing
        }
    }
}

extension PullPlan.Single {
    /// Whether it says that there is no such record, as GraphQL does by null and PostgREST by an empty list.
    fileprivate func saysNone(_ body: JSONText) -> Bool {
        !isPlaceInherited && place.isNull(in: body) || place.isInEmptyList(in: body)
    }

    fileprivate func record(in body: JSONText, of entity: Entity, _ known: JSONText) -> JSONText? {
        let lift = entity.lift?.completed(from: known)
        return place.record(in: body, key: entity.key, lift: lift, isInherited: isPlaceInherited)
            ?? entity.named(place.value(in: body), like: known)
    }
}
