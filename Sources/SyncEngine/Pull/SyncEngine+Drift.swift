internal import CacheStore
internal import Logging
internal import SchemaDrift

/// Telling a person, once, of each new way in which the upstream's records and the schema disagree.
extension SyncEngine {
    /// Warns of what was first seen since the last call in this process; `driftMark` says where that was.
    func warnOfNewDrift() throws {
        let (found, mark) = try store.drift(after: driftMark)
        driftMark = mark
        for drift in found {
            log.warning(
                "the upstream's records and the schema disagree; they are kept as they came",
                metadata: [
                    "entity": "\(drift.entity)", "field": "\(drift.field)", "kind": "\(drift.kind.rawValue)",
                    "expected": "\(drift.expected ?? "no such field")", "found": "\(drift.found)",
                    "example": "\(drift.example)",
                ])
        }
    }
}
