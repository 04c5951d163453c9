import EntitySchema
import JSONText

/// The records that entries of the change log are about, each once, with the time of its last entry.
struct FeedChanges: Equatable {
    /// In the order of the entities' first entries.
    private(set) var entities: [String] = []
    private(set) var times: [String: [ExactText: Timestamp]] = [:]

    /// Which of `entries` are about records: all but those about reminders. A renamed record is two.
    init(_ entries: [JSONText], now: Timestamp) {
        for entry in entries where entry["kind"]?.string != "reminder" {
            guard let entity = entry["entity"]?.string else { continue }
            let time = entry["at"]?.string.flatMap(Timestamp.init(iso8601:)) ?? now
            for id in [entry["id"], entry["old_id"]].compactMap({ $0 }) where id.kind != .null {
                if times[entity] == nil { entities.append(entity) }
                times[entity, default: [:]][ExactText(id.plain)] = time
            }
        }
    }
}
