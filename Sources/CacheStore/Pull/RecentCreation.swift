internal import EntitySchema

/// The time after the acknowledgement of a creation in which the upstream's lists and reads may still lack the record.
enum RecentCreation {
    static let duration = Duration.seconds(60)

    /// Whether a row is that young; `now` is an SQL expression in milliseconds. An acknowledgement in the future was
    /// timed before the clock was set back, and does not count.
    static func sql(at now: String) -> String {
        """
        EXISTS (SELECT 1 FROM sync_change_log WHERE seq = _acknowledged AND detail ->> 'operation' = 'create'
          AND at BETWEEN \(now) - \(duration.milliseconds) AND \(now))
        """
    }
}
