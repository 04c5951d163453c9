internal import CacheStore
internal import ContentStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// The request of an attempt: sent with the record's content if it has one, or why there is none.
extension Attempt {
    /// Sends the request, with the content's file if it has one.
    func deliver(_ request: PushRequest) async throws(UpstreamError) -> PushAnswer {
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

    /// Why no request can be made of the change: its address may need a value of another record.
    func unsendable() throws -> PushFailure {
        let missing = entity.missingPathFields(for: change.operation, record: change.address)
        for name in missing {
            guard let far = entity.far(name), let key = entity.value(of: far.reference, in: change.address)?.plain,
                !key.isEmpty
            else { continue }
            let isCached = try store.record(far.entity, key: key) != nil
            return PushFailure(
                .unsendable,
                message: "\(far.entity)/\(key) "
                    + (isCached
                        ? "has no \(far.field), which the address needs; set it, then retry"
                        : "is not cached, and the address needs its \(far.field); read it, then retry"))
        }
        if let name = missing.first {
            return PushFailure(
                .unsendable,
                message:
                    "the record has no \(name), which the address needs, and reading it brought none; correct the "
                    + "schema and retry, or discard this change")
        }
        if let name = entity.strayPathField(for: change.operation, record: change.address) {
            return PushFailure(
                .unsendable,
                message:
                    "the record's \(name) would lead the address to another place; correct it and retry, or discard "
                    + "this change")
        }
        let stray = change.body.members.map(\.key).filter { !entity.canSend($0, by: change.operation) }
        let lacking =
            stray.isEmpty
            ? "the schema has no route for this change"
            : "no route of the schema sends \(stray.joined(separator: ", "))"
        let fields = stray.count > 1 ? "them" : "it"
        return PushFailure(
            .unsendable, message: "\(lacking); add \(fields) to the schema and retry, or discard this change")
    }

    /// Whether the upstream has the content that was sent, though its answer did not say so.
    func isStored() async throws -> Bool {
        guard case .upload(let content) = change.content else { return false }
        var known = change.address
        if entity.content?.address != nil, try reader.canRead(entity, known) {
            do {
                // The upload may have given it another address.
                if let found = try await reader.record(of: entity, known: known) { known = known.setting(found.record) }
            } catch UpstreamError.refused, UpstreamError.another {}
        }
        guard let address = entity.contentAddress(of: known), !address.isEmpty else { return false }
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
