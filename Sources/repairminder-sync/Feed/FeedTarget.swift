import EntitySchema
import JSONText

/// The database's side of a feed: its tables, and the position of one instance.
struct FeedTarget {
    let connection: PostgresConnection
    let settings: FeedSettings

    private var schema: String { PostgresText.name(settings.schemaName) }
    private var instance: [UInt8] { PostgresText.bytes(settings.instance) }

    // MARK: Tables

    /// Makes the schema and the feed's own tables, where they are missing.
    func prepare() throws(PostgresError) {
        try connection.run(FeedStatements.ownFunctions)
        try connection.run("SET client_min_messages = warning")
        for statement in FeedStatements.planning { try connection.run(statement) }
        let server = try connection.run("SELECT current_setting('server_encoding'), pg_is_in_recovery()")
            .rows(of: 2).first
        guard server?[1] != "t" else {
            throw PostgresError(.passing, "the server is a standby, which can only be read; feed the primary")
        }
        let encoding = server?[0]
        guard encoding == "UTF8" else {
            throw PostgresError(.lasting, "the database has the encoding \(encoding ?? ""); make one with UTF8")
        }
        // Without the lock when nothing is missing: any user of the database can hold it.
        if try !isPrepared() { try makeOwnTables() }
        try requireOwners(of: Self.ownTables.map(\.0))
    }

    private func makeOwnTables() throws(PostgresError) {
        let known = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1"
        try change { () throws(PostgresError) in
            if try connection.run(known, [PostgresText.bytes(settings.schemaName)]).rows.isEmpty {
                try connection.run("CREATE SCHEMA \(schema)")
            }
            for (name, columns) in Self.ownTables where try columnNames(of: name).isEmpty {
                try connection.run("CREATE TABLE \(schema).\(name) (\(columns))")
            }
        }
    }

    private func isPrepared() throws(PostgresError) -> Bool {
        for (name, _) in Self.ownTables where try columnNames(of: name).isEmpty { return false }
        return true
    }

    /// Throws if one of these tables is another user's, who was faster than the feed: what is written into it would run
    /// functions of that user with this role's rights.
    private func requireOwners(of tables: [String]) throws(PostgresError) {
        let foreign = try connection.run(
            """
            SELECT c.relname, r.rolname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_roles r ON r.oid = c.relowner
            WHERE n.nspname = $1 AND c.relname = ANY ($2::text[]) AND r.rolname <> current_user
            AND NOT pg_catalog.pg_has_role(c.relowner, n.nspowner, 'MEMBER')
            """, [PostgresText.bytes(settings.schemaName), PostgresArray.of(tables)]
        ).rows(of: 2)
        guard let table = foreign.first?[0], let owner = foreign.first?[1] else { return }
        throw PostgresError(
            .lasting,
            "\(settings.schemaName).\(table) belongs to \(owner), whose functions it may call; choose another schema with "
                + "--schema-name, or have the schema's owner own it")
    }

    /// No entity's name begins with a line.
    private static let ownTables = [
        (
            "_feed",
            """
            instance text PRIMARY KEY, epoch text NOT NULL, position bigint NOT NULL, shape text NOT NULL,
            updated_at timestamptz NOT NULL DEFAULT now()
            """
        ),
        ("_feed_tables", "entity text PRIMARY KEY, name text NOT NULL, key text NOT NULL, history boolean NOT NULL"),
        (
            "_feed_columns",
            "entity text, field text, type text, name text NOT NULL, PRIMARY KEY (entity, field, type)"
        ),
    ]

    /// The tables of the entities, with every column that they need.
    struct Tables {
        var all: [FeedStatements]
        /// What is new about tables that there were already, for people.
        var news: [String]
    }

    func tables(for entities: [FeedEntity]) throws(PostgresError) -> Tables {
        // Without a lock first: it is needed once, and the lock would wait for others. What seems wrong may be a table that
        // another feed is making.
        let planned = try plans(for: entities)
        guard planned.contains(where: { $0.isIncomplete || $0.obstacle != nil }) else {
            return Tables(all: planned.map(\.statements), news: [])
        }
        return try change { () throws(PostgresError) in
            let plans = try plans(for: entities)
            if let obstacle = plans.lazy.compactMap(\.obstacle).first { throw PostgresError(.lasting, obstacle) }
            for plan in plans { try complete(plan) }
            // All instances read their records again: a crash may come before, and their rows are gone too.
            if plans.contains(where: \.restores) { try connection.run("UPDATE \(schema)._feed SET shape = ''") }
            return Tables(all: plans.map(\.statements), news: plans.flatMap(\.news))
        }
    }

    private func plans(for entities: [FeedEntity]) throws(PostgresError) -> [FeedPlan] {
        let tables = try connection.run("SELECT entity, name, key, history FROM \(schema)._feed_tables")
            .rows(of: 4)
        // A table that was dropped may be another user's by now. The tables of other entities are other feeds'.
        try requireOwners(
            of: tables.filter { row in entities.contains { $0.name == row[0] } }.compactMap { $0[1] })
        let columns = try connection.run(
            "SELECT entity, field, type, name FROM \(schema)._feed_columns ORDER BY field, type"
        ).rows(of: 4)
        var plans: [FeedPlan] = []
        for entity in entities {
            let known = tables.first { $0[0] == entity.name }
            let existing = try columnNames(of: known?[1] ?? FeedTable.new(entity, keepsHistory: false).name)
            plans.append(
                FeedPlan(
                    entity, known: known, columns: columns.filter { $0[0] == entity.name }, existing: existing, settings
                ))
        }
        return plans
    }

    private func complete(_ plan: FeedPlan) throws(PostgresError) {
        let table = plan.statements.table
        if plan.isNew {
            for statement in plan.statements.creation { try connection.run(statement) }
            try connection.run(
                """
                INSERT INTO \(schema)._feed_tables VALUES ($1, $2, $3, $4::boolean)
                ON CONFLICT (entity) DO UPDATE SET name = $2, key = $3, history = $4::boolean
                """,
                [table.entity.name, table.name, table.key, "\(table.keepsHistory)"].map(PostgresText.bytes))
        }
        for column in plan.added {
            try connection.run(plan.statements.adding(column))
            try connection.run(
                """
                INSERT INTO \(schema)._feed_columns VALUES ($1, $2, $3, $4)
                ON CONFLICT (entity, field, type) DO UPDATE SET name = $4
                """,
                [table.entity.name, column.field, column.type.rawValue, column.name].map(PostgresText.bytes))
        }
    }

    private func columnNames(of table: String) throws(PostgresError) -> Set<String> {
        let rows = try connection.run(
            """
            SELECT a.attname FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
            """, [PostgresText.bytes(settings.schemaName), PostgresText.bytes(table)]
        ).rows
        return Set(rows.compactMap { $0.first ?? nil })
    }

    /// A transaction that makes tables: only one at a time, whatever instance makes them.
    private func change<Result>(_ body: () throws(PostgresError) -> Result) throws(PostgresError) -> Result {
        try connection.transaction { () throws(PostgresError) in
            try connection.run(
                "SELECT pg_advisory_xact_lock(pg_catalog.hashtextextended('repairminder-sync feed ' || $1, 0))",
                [PostgresText.bytes(settings.schemaName)])
            return try body()
        }
    }

    // MARK: The position

    /// Nil before the first batch of this instance.
    func position() throws(PostgresError) -> FeedPosition? {
        let rows = try connection.run(
            "SELECT epoch, position, shape FROM \(schema)._feed WHERE instance = $1", [instance]
        ).rows(of: 3)
        guard let row = rows.first, let epoch = row[0], let sequence = row[1].flatMap({ Int($0) }), let shape = row[2]
        else { return nil }
        return FeedPosition(epoch: epoch, sequence: sequence, shape: shape)
    }

    /// Moves the position in the present transaction, as its first step: of two feeds of an instance one waits here, and then
    /// finds that the position is no longer the `old` one.
    func move(from old: FeedPosition?, to new: FeedPosition) throws(PostgresError) {
        let given: [PostgresConnection.Parameter] = [
            instance, PostgresText.bytes(new.epoch), PostgresText.bytes("\(new.sequence)"),
            PostgresText.bytes(new.shape),
        ]
        let answer: PostgresConnection.Answer
        if let old {
            answer = try connection.run(
                """
                UPDATE \(schema)._feed SET epoch = $2, position = $3::bigint, shape = $4, updated_at = now()
                WHERE instance = $1 AND epoch = $5 AND position = $6::bigint AND shape = $7
                """,
                given + [old.epoch, "\(old.sequence)", old.shape].map(PostgresText.bytes))
        } else {
            answer = try connection.run(
                "INSERT INTO \(schema)._feed VALUES ($1, $2, $3::bigint, $4) ON CONFLICT DO NOTHING", given)
        }
        guard answer.affected == 1 else {
            throw PostgresError(
                .overtaken, "another feed writes as the instance \(settings.instance), or has made a table")
        }
    }

    // MARK: Records

    func merge(_ rows: FeedRows, into table: FeedStatements) throws(PostgresError) {
        guard !rows.isEmpty else { return }
        let parameters = rows.parameters(instance: settings.instance, table.table)
        for statement in table.merge { try connection.run(statement, parameters) }
    }

    func remove(_ keys: [String], at times: [Timestamp], from table: FeedStatements) throws(PostgresError) {
        guard !keys.isEmpty else { return }
        try connection.run(
            table.removal, FeedRows.removal(instance: settings.instance, keys, at: times))
    }

    /// Begins to note which records of a table a snapshot has.
    func beginSeen() throws(PostgresError) {
        try connection.run(FeedStatements.makingSeen)
        try connection.run(FeedStatements.emptyingSeen)
    }

    func markSeen(_ keys: [String]) throws(PostgresError) {
        try connection.run(FeedStatements.markingSeen, [PostgresArray.of(keys)])
    }

    /// Removes this instance's records that the snapshot did not have; returns their number.
    func removeUnseen(at time: Timestamp, from table: FeedStatements) throws(PostgresError) -> Int {
        try connection.run(table.removalOfUnseen, [instance, time.utf8]).affected
    }
}
