/// What an upstream has and how to keep a cache of it: one schema file as checked values.
///
/// Every name in it exists, every reference leads somewhere, and no name collides with the local API's own words, so
/// nothing that uses a schema has to check again.
package struct EntitySchema: Sendable, Equatable {
    package var name: String
    package var title: String
    package var upstream: UpstreamPlan
    /// In the order of the file, which is the order of pulling.
    package var entities: [Entity]
    /// Nil where the schema declares no figures.
    package var dashboard: DashboardPlan?
    package var reminders: [ReminderRule] = []

    package subscript(name: String) -> Entity? { entities.first { $0.name == name } }

    /// Words that the local API uses in the place of an entity's name.
    package static let reservedEntityNames: Set<String> = [
        "changes", "conflicts", "dashboard", "drift", "events", "healthz", "metrics", "openapi", "pending", "readyz",
        "reminders", "search", "status", "sync", "v1",
    ]

    /// Words that a list takes as query parameters and records carry of their own.
    package static let reservedFieldNames: Set<String> = [
        "count", "cursor", "fields", "include", "limit", "q", "refresh", "reveal", "sort", "sync", "timeout", "wait",
    ]

    /// Words that follow a record's id in the place of a relation's name.
    package static let reservedRelationNames: Set<String> = ["content", "history", "thumbnail"]

    /// Beginnings that the database keeps for its own tables.
    package static let reservedEntityPrefixes = ["records_", "sync_", "sqlite_"]

    init(
        name: String, title: String, upstream: UpstreamPlan, entities: [Entity], dashboard: DashboardPlan? = nil,
        reminders: [ReminderRule] = []
    ) {
        self.name = name
        self.title = title
        self.upstream = upstream
        self.entities = entities
        self.dashboard = dashboard
        self.reminders = reminders
    }
}
