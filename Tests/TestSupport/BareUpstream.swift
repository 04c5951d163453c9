package import EntitySchema
package import JSONText
package import Upstream

/// An upstream of which a test defines only what it needs. The rest has no account and no records, and accepts each change.
package protocol BareUpstream: Upstream {}

extension BareUpstream {
    package func account() async throws(UpstreamError) -> SignedInAccount? { nil }

    package func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        Page(records: .array([]), count: 0)
    }

    package func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? { nil }

    package func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        .accepted()
    }

    package func probe() async throws(UpstreamError) {}
}
