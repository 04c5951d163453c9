internal import CacheStore
internal import Logging
internal import SchemaDrift

/// Warns once of each new way in which the upstream's records and the schema disagree.
struct DriftWarnings {
    /// The last drift that was seen.
    private var mark: Int64 = 0

    /// Starts after the drift that an earlier process has warned of.
    mutating func skipKnown(in store: CacheStore) throws { mark = try store.drift(after: 0).mark }

    /// Warns of the drift first seen since the last call.
    mutating func warnOfNew(in store: CacheStore, _ log: Logger) throws {
        let (found, mark) = try store.drift(after: mark)
        self.mark = mark
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
