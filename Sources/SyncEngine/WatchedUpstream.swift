internal import EntitySchema
internal import JSONText
internal import Upstream

/// The upstream as all work uses it: each request asks first whether it may be made, and tells what came of it.
struct WatchedUpstream: Upstream {
    let upstream: any Upstream
    /// Why no request may be made now; nil when one may.
    let refusal: @Sendable () async -> UpstreamError?
    /// Nil for an answer.
    let report: @Sendable (UpstreamError?) async -> Void

    func account() async throws(UpstreamError) -> String? {
        try await watched { () async throws(UpstreamError) in try await upstream.account() }
    }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        try await watched { () async throws(UpstreamError) in try await upstream.page(request) }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await watched { () async throws(UpstreamError) in try await upstream.record(of: entity, known: known) }
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> RemoteRecord? {
        try await watched { () async throws(UpstreamError) in
            try await upstream.push(request, idempotencyKey: idempotencyKey)
        }
    }

    func probe() async throws(UpstreamError) {
        try await watched { () async throws(UpstreamError) in try await upstream.probe() }
    }

    private func watched<Answer: Sendable>(
        _ request: () async throws(UpstreamError) -> Answer
    ) async throws(UpstreamError) -> Answer {
        if let refusal = await refusal() { throw refusal }
        do throws(UpstreamError) {
            let answer = try await request()
            await report(nil)
            return answer
        } catch {
            await report(error)
            throw error
        }
    }
}
