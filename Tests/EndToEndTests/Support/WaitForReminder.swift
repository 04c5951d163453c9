import JSONText

/// Follows the change log until a reminder (of `record`, if given) reaches a state, and returns it. `get` calls the daemon.
func waitForReminder(
    of record: String? = nil, becomes state: String, _ get: @Sendable (String) async throws -> JSONText
) async throws -> JSONText {
    var since = 0
    while true {
        let page = try await get("/v1/changes?since=\(since)&kind=reminder&wait=60")
        let reminders = page["data"]?.elements.compactMap { $0["reminder"] } ?? []
        let found = reminders.first {
            $0["state"]?.string == state && (record == nil || $0["record_id"]?.string == record)
        }
        if let found { return found }
        since = page["next"]?.integer ?? 0
    }
}
