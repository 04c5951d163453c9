internal import CacheStore
internal import ContentStore
internal import EntitySchema
internal import Upstream

/// Requests with the content of a record.
extension Pusher {
    /// Sends the request, with the content's file if it has one.
    func deliver(
        _ request: PushRequest, of change: OutboxChange
    ) async throws(UpstreamError) -> PushAnswer {
        guard case .upload(let content) = change.content else {
            return try await upstream.push(request, idempotencyKey: change.idempotencyKey)
        }
        guard let file = try? environment.contents?.open(content.sha256) else {
            throw .refused(
                status: nil, "the file of this content is gone; send the content again, or discard the change")
        }
        let source = BodySource(size: file.size) { try? file.read(at: $0, count: $1) }
        return try await upstream.upload(request, from: source, idempotencyKey: change.idempotencyKey)
    }

    /// Whether the upstream has the content that was sent, though its answer did not say so.
    func isStored(_ change: OutboxChange, _ entity: Entity) async throws -> Bool {
        guard case .upload(let content) = change.content, let address = entity.contentAddress(of: change.address),
            !address.isEmpty
        else { return false }
        let witness = ContentWitness(environment: environment, upstream: upstream)
        do {
            return try await witness.hash(of: address, entity) == content.sha256
        } catch let error as UpstreamError {
            throw error
        } catch {
            // There is no room for the file.
            return false
        }
    }
}
