internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SchemaDrift
internal import SocketServer

/// Where the upstream's records and the schema disagree.
extension Handlers {
    /// The most set-aside records to show; the status has their total.
    private static let mostSetAside = 100

    func drift() throws -> Response {
        .document(
            .object([
                "data": .array(try store.drift().map(Self.document)),
                "set_aside": .array(try store.setAsideRecords(limit: Self.mostSetAside).map(Self.document)),
            ]))
    }

    private static func document(_ drift: Drift) -> JSONText {
        .object([
            "entity": .string(drift.entity), "field": .string(drift.field), "kind": .string(drift.kind.rawValue),
            "expected": .string(drift.expected), "found": .string(drift.found), "count": .integer(drift.count),
            "example": .string(drift.example), "first_seen": .string(drift.firstSeen.description),
            "last_seen": .string(drift.lastSeen.description),
        ])
    }

    /// The record as it came, or as text if it was too long to store completely.
    private static func document(_ aside: SetAsideRecord) -> JSONText {
        .object([
            "entity": .string(aside.entity),
            "record": (try? JSONText(parsing: aside.record)) ?? .string(aside.record),
            "at": .string(aside.at.description),
        ])
    }
}
