/// What an upstream has and how to cache it: one schema file as validated values.
///
/// Every name in it exists, every reference resolves, and no name collides with a word of the local API, so code that
/// uses a schema need not check again.
package struct EntitySchema: Sendable, Equatable {
    package var name: String
    package var title: String
    /// What its author calls this state of the file; nil when not said.
    package var version: String?
    package var upstream: UpstreamPlan
    /// In the order of the file, which is the order of pulling.
    package var entities: [Entity]
    /// Nil when the schema declares no figures.
    package var dashboard: DashboardPlan?
    package var reminders: [ReminderRule] = []

    package subscript(name: String) -> Entity? {
        // By index, because a walk over the entities copies each of them.
        for index in entities.indices where entities[index].name == name { return entities[index] }
        return nil
    }

    /// The entities whose changes are pushed in the order written among each other (`orderWithin`), itself included.
    package func orderedTogether(with entity: Entity) -> [String] {
        guard let owner = owner(within: entity) else { return [entity.name] }
        return entities.filter { self.owner(within: $0) == owner }.map(\.name)
    }

    /// The entity that `orderWithin` refers to, which is the entity itself if that is its key; nil if it is no reference.
    package func owner(within entity: Entity) -> String? {
        if case .reference(let owner)? = entity.orderWithin.flatMap({ entity[field: $0]?.kind }) { return owner }
        return entity.orderWithin == entity.key ? entity.name : nil
    }

    /// Words that the local API uses instead of an entity's name.
    package static let reservedEntityNames: Set<String> = [
        "changes", "conflicts", "dashboard", "drift", "events", "healthz", "metrics", "openapi", "pending", "readyz",
        "reminders", "schema", "search", "status", "sync", "v1",
    ]

    /// The query parameters of the local API, and members that it adds to records.
    package static let reservedFieldNames: Set<String> = [
        "count", "cursor", "fields", "include", "labels", "limit", "q", "refresh", "reveal", "sort", "sync", "timeout",
        "wait",
    ]

    /// Names of columns of the cache's tables, and of members that the local API adds to a record.
    package static let ownMembers: Set<String> = [
        "_acknowledged", "_content", "_content_address", "_deleted", "_derived", "_detail", "_displaced", "_document",
        "_gone", "_include", "_key", "_labels", "_local", "_pk", "_remote", "_rowid_", "_server", "_shown", "_sync",
        "_synced_at", "_version",
    ]

    /// Words that follow a record's id instead of a relation's name.
    package static let reservedRelationNames: Set<String> = ["content", "history", "thumbnail"]

    /// Prefixes that the database reserves for its own tables.
    package static let reservedEntityPrefixes = ["records_", "sync_", "sqlite_"]

    init(
        name: String, title: String, upstream: UpstreamPlan, entities: [Entity], dashboard: DashboardPlan? = nil,
        reminders: [ReminderRule] = [], version: String? = nil
    ) {
        self.name = name
        self.title = title
        self.version = version
        self.upstream = upstream
        self.entities = entities
        self.dashboard = dashboard
        self.reminders = reminders
    }
}
