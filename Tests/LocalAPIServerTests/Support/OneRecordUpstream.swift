import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Upstream

/// An upstream that serves only single records.
final class OneRecordUpstream: BareUpstream {
    private struct State {
        var records: [String: JSONText]
        var failure: UpstreamError?
        var asked: [String] = []
    }

    private let state: Mutex<State>

    /// `records`: by `entity/key`.
    init(_ records: [String: JSONText] = [:]) {
        state = Mutex(State(records: records))
    }

    var asked: [String] { state.withLock { $0.asked } }
    func set(_ name: String, _ record: JSONText?) { state.withLock { $0.records[name] = record } }
    func fail(_ error: UpstreamError?) { state.withLock { $0.failure = error } }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        let name = "\(entity.name)/\(known[entity.key]?.plain ?? "")"
        let (record, failure) = state.withLock { state in
            state.asked.append(name)
            return (state.records[name], state.failure)
        }
        if let failure { throw failure }
        return record.map { RemoteRecord($0) }
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        throw .offline("unreachable")
    }
}
