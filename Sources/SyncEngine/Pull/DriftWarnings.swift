internal import CacheStore
internal import Logging
internal import SchemaDrift

/// Warns once of each new way in which the upstream's records and the schema disagree.
struct DriftWarnings {
    /// The last drift that was seen.
    private var mark: Int64 = 0

    /// Starts after the drift that an earlier process has warned of.
    mutating func skipKnown(in store: CacheStore) throws { mark = try store.drift(after: 0).mark }

    /// Logs the drift first seen since the last call.
    mutating func warnOfNew(in store: CacheStore, _ log: Logger) throws {
        let (found, mark) = try store.drift(after: mark)
        self.mark = mark
        for (entity, names) in Self.unknown(in: found) {
            log.notice(
                "records have fields that the schema lacks; they are kept as they came",
                metadata: ["entity": "\(entity)", "fields": "\(names)"])
        }
        for drift in found where drift.kind != .unknown {
            log.warning(
                "the upstream's records and the schema disagree; they are kept as they came",
                metadata: [
                    "entity": "\(drift.entity)", "field": "\(drift.field)", "kind": "\(drift.kind.rawValue)",
                    "expected": "\(drift.expected ?? "no such field")", "found": "\(drift.found)",
                    "example": "\(drift.example)",
                ])
        }
    }

    /// For each entity, the names of fields that the schema does not have: a schema may leave out what no one needs.
    static func unknown(in found: [Drift]) -> [(entity: String, names: String)] {
        var entities: [String] = []
        var names: [String: [String]] = [:]
        for drift in found where drift.kind == .unknown {
            if names[drift.entity] == nil { entities.append(drift.entity) }
            guard names[drift.entity]?.contains(drift.field) != true else { continue }
            names[drift.entity, default: []].append(drift.field)
        }
        return entities.map { ($0, shown(names[$0] ?? [])) }
    }

    private static func shown(_ names: [String]) -> String {
        let more = names.count - mostNames
        return names.prefix(mostNames).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private static let mostNames = 40
}
