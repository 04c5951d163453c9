internal import EntitySchema
internal import JSONText
internal import Upstream

/// What a request is about, as far as that helps to tell a broken entity from a broken upstream.
struct RequestOrigin: Sendable, Equatable {
    /// Nil where the request concerns no entity.
    var entity: String?
    var isChange = false
}

/// The upstream as all work uses it. Each request first asks whether it may be made and reports its outcome, and no error
/// leaves with a secret in its text: errors are stored, shown and logged.
struct GuardedUpstream: Upstream {
    let upstream: any Upstream
    let schema: EntitySchema
    /// Why no request may be made now; nil when one may.
    let refusal: @Sendable () async -> UpstreamError?
    /// Called with nil for an answer.
    let report: @Sendable (RequestOrigin, UpstreamError?) async -> Void

    func account() async throws(UpstreamError) -> String? {
        try await guarded(RequestOrigin()) { () async throws(UpstreamError) in try await upstream.account() }
    }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        try await guarded(RequestOrigin(entity: request.entity)) { () async throws(UpstreamError) in
            try await upstream.page(request)
        }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await guarded(RequestOrigin(entity: entity.name)) { () async throws(UpstreamError) in
            try await upstream.record(of: entity, known: known)
        }
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> RemoteRecord? {
        let origin = RequestOrigin(entity: request.entity, isChange: true)
        return try await guarded(origin, secrets: request.secrets) { () async throws(UpstreamError) in
            try await upstream.push(request, idempotencyKey: idempotencyKey)
        }
    }

    func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> RemoteRecord? {
        let origin = RequestOrigin(entity: request.entity, isChange: true)
        return try await guarded(origin, secrets: request.secrets) { () async throws(UpstreamError) in
            try await upstream.upload(request, from: source, idempotencyKey: idempotencyKey)
        }
    }

    /// A request to another host says nothing about the upstream, so it is neither refused nor reported.
    func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
        guard upstream.serves(address) else {
            return try await upstream.download(address, limit: limit, into: sink)
        }
        return try await guarded(RequestOrigin()) { () async throws(UpstreamError) in
            try await upstream.download(address, limit: limit, into: sink)
        }
    }

    func serves(_ address: String) -> Bool { upstream.serves(address) }

    func probe() async throws(UpstreamError) {
        try await guarded(RequestOrigin()) { () async throws(UpstreamError) in try await upstream.probe() }
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
