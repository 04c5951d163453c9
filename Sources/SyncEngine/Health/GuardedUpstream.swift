internal import EntitySchema
internal import JSONText
internal import Upstream

/// What a request is about, to distinguish a broken entity from a broken upstream.
struct RequestOrigin: Sendable, Equatable {
    /// Nil if the request concerns no entity.
    var entity: String?
    var isChange = false
    /// Nil for several in one request.
    var change: ThrottledChanges.Change?
}

extension RequestOrigin {
    fileprivate init(of request: PushRequest, _ idempotencyKey: String) {
        self.init(
            entity: request.entity, isChange: true,
            change: ThrottledChanges.Change(
                idempotencyKey, request.operation, of: request.entity, request.content != nil))
    }
}

/// The upstream as all work uses it. Each request first asks whether it may be made and reports its outcome, and no
/// error leaves with a secret in its text: errors are stored, shown and logged.
struct GuardedUpstream: Upstream {
    let upstream: any Upstream
    let schema: EntitySchema
    /// Why no request may be made now; nil when one may.
    let refusal: @Sendable () async -> UpstreamError?
    /// Called with nil for an answer.
    var report: @Sendable (RequestOrigin, UpstreamError?) async -> Void

    func account() async throws(UpstreamError) -> SignedInAccount? {
        try await guarded(RequestOrigin()) { () async throws(UpstreamError) in try await upstream.account() }
    }

    func confirmToken() async throws(UpstreamError) {
        try await guarded(RequestOrigin()) { () async throws(UpstreamError) in try await upstream.confirmToken() }
    }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        var request = request
        request.mayQuoteAnswer = secretMembers(of: request.entity).isEmpty
        return try await guarded(RequestOrigin(entity: request.entity)) { () async throws(UpstreamError) in
            try await upstream.page(request)
        }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        let origin = RequestOrigin(entity: entity.name)
        let secrets = known.secretTexts(of: entity)
        return try await guarded(origin, secrets: secrets) { () async throws(UpstreamError) in
            try await upstream.record(of: entity, known: known)
        }
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        try await guarded(request, idempotencyKey) { (request) async throws(UpstreamError) in
            try await upstream.push(request, idempotencyKey: idempotencyKey)
        }
    }

    /// One request, so at most one failure of it is reported for all of them.
    func push(_ batch: BatchRequest) async throws(UpstreamError) -> [BatchResult] {
        var batch = batch
        for (index, element) in batch.elements.enumerated() {
            batch.elements[index].request.secretMembers = secretMembers(of: element.request.entity)
        }
        let names = Set(batch.elements.map(\.request.entity))
        let origin = RequestOrigin(entity: names.count == 1 ? names.first : nil, isChange: true)
        let secrets = batch.elements.flatMap { self.secrets(of: $0.request) }
        let results = try await guarded(origin, secrets: secrets) { () async throws(UpstreamError) in
            try await upstream.push(batch)
        }
        let clean = results.map { result in result.mapError { $0.withoutSecrets(secrets) } }
        for (element, result) in zip(batch.elements, clean) where result.isAnswer {
            await report(RequestOrigin(of: element.request, element.idempotencyKey), nil)
        }
        if let failure = clean.lazy.compactMap(\.reportable).first { await report(origin, failure) }
        return clean
    }

    func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> PushAnswer {
        try await guarded(request, idempotencyKey) { (request) async throws(UpstreamError) in
            try await upstream.upload(request, from: source, idempotencyKey: idempotencyKey)
        }
    }

    /// A request to another host says nothing about the upstream, so it is neither refused nor reported. The query of
    /// an address can hold a signature that opens the content to anyone.
    func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
        let secrets = Self.querySecrets(of: address)
        guard upstream.serves(address) else {
            do throws(UpstreamError) {
                return try await upstream.download(address, limit: limit, into: sink)
            } catch {
                throw error.withoutSecrets(secrets)
            }
        }
        return try await guarded(RequestOrigin(), secrets: secrets) { () async throws(UpstreamError) in
            try await upstream.download(address, limit: limit, into: sink)
        }
    }

    /// A page of a list of events, for signals.
    func events(_ request: PageRequest) async throws(UpstreamError) -> Page {
        var request = request
        request.mayQuoteAnswer = schema.entities.allSatisfy(\.secretMembers.isEmpty)
        return try await besides { () async throws(UpstreamError) in try await upstream.page(request) }
    }

    func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        try await besides { () async throws(UpstreamError) in
            try await upstream.follow(stream, after: lastEvent, clock: clock, receive: receive)
        }
    }

    /// A request that records do not depend on: its failure says nothing about the upstream, unless it cannot be reached
    /// or asks to be left alone.
    private func besides<Answer: Sendable>(
        _ request: () async throws(UpstreamError) -> Answer
    ) async throws(UpstreamError) -> Answer {
        if let refusal = await refusal() { throw refusal }
        do throws(UpstreamError) {
            return try await request()
        } catch {
            switch error {
            case .offline, .throttled: await report(RequestOrigin(), error)
            default: break
            }
            throw error
        }
    }

    func serves(_ address: String) -> Bool { upstream.serves(address) }

    func probe() async throws(UpstreamError) {
        try await guarded(RequestOrigin()) { () async throws(UpstreamError) in try await upstream.probe() }
    }

    // MARK: Secrets

    private func secretMembers(of entity: String) -> Set<String> { schema[entity]?.secretMembers ?? [] }

    /// The secrets of the change and its record, and everything that the body has in a secret's place.
    private func secrets(of request: PushRequest) -> [String] {
        let sent = schema[request.entity].flatMap { request.body?.secretTexts(of: $0) }
        return request.secrets + (sent ?? [])
    }

    /// The query as a whole, and its values that are too long to be common words.
    private static func querySecrets(of address: String) -> [String] {
        guard let start = address.firstIndex(of: "?") else { return [] }
        let query = address[address.index(after: start)...]
        let values = query.split(separator: "&").compactMap { $0.split(separator: "=", maxSplits: 1).dropFirst().first }
        return [String(query)] + values.filter { $0.count >= 8 }.map(String.init)
    }

    /// `send` gets the request with the members that are secret.
    private func guarded(
        _ request: PushRequest, _ idempotencyKey: String,
        _ send: (PushRequest) async throws(UpstreamError) -> PushAnswer
    ) async throws(UpstreamError) -> PushAnswer {
        var request = request
        request.secretMembers = secretMembers(of: request.entity)
        let origin = RequestOrigin(of: request, idempotencyKey)
        return try await guarded(origin, secrets: secrets(of: request)) { () async throws(UpstreamError) in
            try await send(request)
        }
    }

    private func guarded<Answer: Sendable>(
        _ origin: RequestOrigin, secrets: [String] = [], _ request: () async throws(UpstreamError) -> Answer
    ) async throws(UpstreamError) -> Answer {
        if let refusal = await refusal() { throw refusal }
        do throws(UpstreamError) {
            let answer = try await request()
            await report(origin, nil)
            return answer
        } catch {
            let clean = error.withoutSecrets(secrets)
            await report(origin, clean)
            throw clean
        }
    }
}

extension JSONText {
    /// The texts in the places where the entity's records hold secrets.
    fileprivate func secretTexts(of entity: Entity) -> [String] {
        let places = entity.secretPlaces
        guard !places.isEmpty else { return [] }
        var texts: [String] = []
        _ = replacing(JSONPlaces(places.map(\.path))) { _, value in
            texts.append(value.plain)
            return value
        }
        return texts
    }
}

extension BatchResult {
    /// What the result of one change says about the upstream.
    fileprivate var reportable: UpstreamError? {
        switch self {
        case .failure(let error):
            switch error {
            case .throttled, .unclear: error
            default: nil
            }
        case .success: nil
        }
    }

    /// Whether the upstream did the change, or refused it for what it says.
    fileprivate var isAnswer: Bool {
        switch self {
        case .success, .failure(.changed), .failure(.locked), .failure(.refused(.some, _)): true
        case .failure: false
        }
    }
}
