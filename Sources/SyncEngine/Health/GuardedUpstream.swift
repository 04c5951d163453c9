internal import EntitySchema
internal import JSONText
internal import Upstream

/// What a request is about, as far as it tells one that fails from one that does not.
struct RequestOrigin: Sendable, Equatable {
    /// Nil for what concerns none.
    var entity: String?
    var isChange = false
}

/// The upstream as all work uses it: each request asks first whether it may be made, and tells what came of it.
struct GuardedUpstream: Upstream {
    let upstream: any Upstream
    /// Why no request may be made now; nil when one may.
    let refusal: @Sendable () async -> UpstreamError?
    /// Nil for an answer.
    let report: @Sendable (RequestOrigin, UpstreamError?) async -> Void

    func account() async throws(UpstreamError) -> String? {
        try await watched(RequestOrigin()) { () async throws(UpstreamError) in try await upstream.account() }
    }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        try await watched(RequestOrigin(entity: request.entity)) { () async throws(UpstreamError) in
            try await upstream.page(request)
        }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await watched(RequestOrigin(entity: entity.name)) { () async throws(UpstreamError) in
            try await upstream.record(of: entity, known: known)
        }
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> RemoteRecord? {
        try await watched(RequestOrigin(entity: request.entity, isChange: true)) { () async throws(UpstreamError) in
            do throws(UpstreamError) {
                return try await upstream.push(request, idempotencyKey: idempotencyKey)
            } catch {
                throw error.withoutQuotes(of: request.secrets)
            }
        }
    }

    func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> RemoteRecord? {
        try await watched(RequestOrigin(entity: request.entity, isChange: true)) { () async throws(UpstreamError) in
            try await upstream.upload(request, from: source, idempotencyKey: idempotencyKey)
        }
    }

    /// What another host does tells nothing of the upstream.
    func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
        guard upstream.serves(address) else {
            return try await upstream.download(address, limit: limit, into: sink)
        }
        return try await watched(RequestOrigin()) { () async throws(UpstreamError) in
            try await upstream.download(address, limit: limit, into: sink)
        }
    }

    func serves(_ address: String) -> Bool { upstream.serves(address) }

    func probe() async throws(UpstreamError) {
        try await watched(RequestOrigin()) { () async throws(UpstreamError) in try await upstream.probe() }
    }

    private func watched<Answer: Sendable>(
        _ origin: RequestOrigin, _ request: () async throws(UpstreamError) -> Answer
    ) async throws(UpstreamError) -> Answer {
        if let refusal = await refusal() { throw refusal }
        do throws(UpstreamError) {
            let answer = try await request()
            await report(origin, nil)
            return answer
        } catch {
            await report(origin, error)
            throw error
        }
    }
}
