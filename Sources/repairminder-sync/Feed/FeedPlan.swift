/// What the table of an entity needs: whether it is new, and which columns are added.
struct FeedPlan {
    let statements: FeedStatements
    let isNew: Bool
    let added: [FeedTable.Column]
    /// What is new about a table that there was already, for people.
    let news: [String]
    /// Why the entity cannot be fed; nil if it can.
    let obstacle: String?
    /// Whether it makes a table, or makes a column again: without the values that it should have.
    let restores: Bool

    var isIncomplete: Bool { isNew || !added.isEmpty }

    /// `known` is the row of `_feed_tables`, `columns` are those of `_feed_columns`, and `existing` are the names of all
    /// columns of that table in the database.
    init(
        _ entity: FeedEntity, known: [String?]?, columns: [[String?]], existing: Set<String>, _ settings: FeedSettings
    ) {
        var table = FeedTable.new(entity, keepsHistory: settings.keepsHistory)
        let isMade = known != nil && !existing.isEmpty
        if isMade, let known {
            table.name = known[1] ?? table.name
            table.key = known[2] ?? table.key
            table.keepsHistory = known[3] == "t"
        }
        let made = columns.compactMap { row -> FeedTable.Column? in
            guard let field = row[1], let type = row[2].flatMap(FeedType.init(rawValue:)), let name = row[3],
                existing.contains(name)
            else { return nil }
            return FeedTable.Column(name: name, field: field, source: nil, type: type)
        }
        let missing = table.complete(known: isMade ? made : [], taken: existing)
        added = missing
        isNew = !isMade
        restores =
            !isMade
            || columns.contains { row in
                missing.contains { $0.field == row[1] && $0.type.rawValue == row[2] }
            }
        news = isMade ? added.map { Self.news($0, made, table.name) } : []
        statements = FeedStatements(table, schema: settings.schemaName)
        obstacle = Self.obstacle(table, isForeign: !isMade && !existing.isEmpty, settings)
    }

    private static func news(_ column: FeedTable.Column, _ made: [FeedTable.Column], _ table: String) -> String {
        guard let old = made.first(where: { $0.field == column.field }) else {
            return "\(table) has a new column \(column.name) (\(column.type.rawValue))"
        }
        return """
            \(column.field) of \(table) has another type: its values are in \(column.name) (\(column.type.rawValue)), and in \
            \(old.name) (\(old.type.rawValue)) as far as they fit
            """
    }

    private static func obstacle(_ table: FeedTable, isForeign: Bool, _ settings: FeedSettings) -> String? {
        let place = "\(settings.schemaName).\(table.name)"
        if isForeign { return "\(place) is not a table of the feed; choose another schema with --schema-name" }
        guard table.keepsHistory != settings.keepsHistory else { return nil }
        return table.keepsHistory
            ? "\(place) keeps history; feed it with --history, or choose another schema with --schema-name"
            : "\(place) keeps no history; feed it without --history, or choose another schema with --schema-name"
    }
}
