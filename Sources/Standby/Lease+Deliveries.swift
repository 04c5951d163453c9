/// What the holder of the lease leaves to the next one about hooks and reminders.
extension Lease {
    /// What the former holder has stored; nil if none has.
    package func deliveries() async throws(StandbyError) -> String? {
        let key = settings.deliveriesKey
        return try await gateway.entries(key, limit: 1).first { $0.key == key }?.value
    }

    /// Stores it if this daemon still holds the lease. An earlier attempt may be carried out late: the text is then older.
    package func store(deliveries text: String) async throws(StandbyError) {
        guard let held = valid else { throw .notHolder }
        let answer = try await gateway.transaction(
            if: [.created(key: settings.holderKey, held.revision)],
            then: [.put(key: settings.deliveriesKey, value: text)], else: [.read(key: settings.holderKey)])
        guard answer.succeeded else { throw .notHolder }
    }
}
