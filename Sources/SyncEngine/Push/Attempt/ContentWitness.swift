internal import CacheStore
internal import ContentStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Tells records with the same values apart by their content, when several creations with content have lost their
/// answers.
struct ContentWitness {
    enum Verdict {
        /// The record has the change's content, or nothing suggests that it has another's.
        case own
        /// It has the content of another queued creation.
        case another
        /// It may be either's.
        case unclear
    }

    let environment: SyncEnvironment
    let upstream: any Upstream

    /// `isNeeded`: nothing else says that the record is the change's own, so its content has to.
    func verdict(
        on record: JSONText, for change: OutboxChange, _ entity: Entity, isNeeded: Bool
    ) async throws -> Verdict {
        guard case .upload(let content) = change.content else { return .own }
        let others = try environment.store.contentsSent(beside: change)
        guard isNeeded || !others.isEmpty else { return .own }
        guard let address = entity.contentAddress(of: change.record.setting(record)), !address.isEmpty,
            let found = try await hash(of: address, entity)
        else { return .unclear }
        if found == content.sha256 { return .own }
        return others.contains(found) ? .another : .unclear
    }

    /// Nil if there is no content, the schema does not allow it, or it comes too slowly.
    func hash(of address: String, _ entity: Entity) async throws -> String? {
        guard let contents = environment.contents, let plan = entity.content else { return nil }
        let draft = try contents.draft(limit: plan.maximumSize)
        do throws(UpstreamError) {
            _ = try await upstream.download(
                address, limit: plan.maximumSize,
                into: BodySink(DownloadPace(now: environment.monotonicNow)) { try draft.write($0) })
        } catch {
            switch error {
            case .gone, .refused, .malformed: return nil
            default: throw error
            }
        }
        return try await contents.finish(draft, type: "").sha256
    }
}
