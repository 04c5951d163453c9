/// The SQL of one table. `$1` is the instance in each statement; every other value is a list, an element for each record.
struct FeedStatements: Equatable {
    let table: FeedTable
    private let target: String

    init(_ table: FeedTable, schema: String) {
        self.table = table
        target = "\(PostgresText.name(schema)).\(PostgresText.name(table.name))"
    }

    // MARK: Tables

    /// What makes the table, in order.
    var creation: [String] {
        let key = PostgresText.name(table.key)
        let history =
            table.keepsHistory
            ? ", version integer NOT NULL, valid_from timestamptz NOT NULL, valid_to timestamptz" : ""
        let primary = table.keepsHistory ? "instance, \(key), version" : "instance, \(key)"
        let create = """
            CREATE TABLE \(target) (instance text NOT NULL, \(key) text NOT NULL, record jsonb NOT NULL\(history), \
            PRIMARY KEY (\(primary)))
            """
        guard table.keepsHistory else { return [create] }
        return [create, "CREATE UNIQUE INDEX ON \(target) (instance, \(key)) WHERE valid_to IS NULL"]
    }

    func adding(_ column: FeedTable.Column) -> String {
        "ALTER TABLE \(target) ADD COLUMN \(PostgresText.name(column.name)) \(column.type.rawValue)"
    }

    // MARK: Records

    /// Statements that make records what they are now, in order; their values are `keys, times, columns…, records`.
    ///
    /// A record that has not changed is not written. With history, a version ends when the next one begins, and a change of
    /// columns alone, as of new ones, is no version.
    var merge: [String] { table.keepsHistory ? [ending, filling, beginning] : [upsert] }

    /// Removes records by their keys, or ends their last versions; its values are `keys, times`.
    var removal: String {
        let listed = Self.listed("unnest($2::text[], $3::timestamptz[]) AS n (key, time)")
        return table.keepsHistory
            ? """
            UPDATE \(target) AS t SET valid_to = greatest(n.time, t.valid_from) FROM \(listed)
            WHERE \(current)
            """
            : """
            DELETE FROM \(target) AS t USING \(listed)
            WHERE t.instance = n.instance AND t.\(key) = n.key
            """
    }

    /// Removes what a snapshot did not have, `$2` being its time. The keys that it had are in `seen`.
    var removalOfUnseen: String {
        let unseen = "NOT EXISTS (SELECT FROM pg_temp.\(Self.seen) AS s WHERE s.key = t.\(key))"
        return table.keepsHistory
            ? """
            UPDATE \(target) AS t SET valid_to = greatest($2::timestamptz, t.valid_from)
            WHERE t.instance = $1::text AND t.valid_to IS NULL AND \(unseen)
            """
            : """
            DELETE FROM \(target) AS t WHERE t.instance = $1::text AND $2::timestamptz IS NOT NULL AND \(unseen)
            """
    }

    private static let seen = "repairminder_seen"
    static let makingSeen = "CREATE TEMPORARY TABLE IF NOT EXISTS \(seen) (key text PRIMARY KEY) ON COMMIT DROP"
    static let emptyingSeen = "DELETE FROM pg_temp.\(seen)"
    static let markingSeen =
        "INSERT INTO pg_temp.\(seen) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING"

    // MARK: Parts

    private var key: String { PostgresText.name(table.key) }
    private var names: [String] { table.columns.map { PostgresText.name($0.name) } }
    /// The columns of `n`; no field's name, which may be any.
    private var places: [String] { table.columns.indices.map { "c\($0)" } }

    private var rows: String {
        let types = ["text", "timestamptz"] + table.columns.map(\.type.rawValue) + ["jsonb"]
        let lists = types.enumerated().map { "$\($0.offset + 2)::\($0.element)[]" }.joined(separator: ", ")
        return Self.listed("unnest(\(lists)) AS n (\((["key", "time"] + places + ["record"]).joined(separator: ", ")))")
    }

    /// With the instance as a column. A table that was just filled has no statistics, and with a constant the planner would
    /// read all rows of the instance for each batch, because it takes them for few.
    private static func listed(_ function: String) -> String {
        "(SELECT $1::text AS instance, n.* FROM \(function) OFFSET 0) AS n"
    }

    /// Settings of the session with which each batch finds its rows by the primary key.
    static let planning = ["enable_hashjoin", "enable_mergejoin", "enable_seqscan"].map { "SET \($0) = off" }

    /// Functions without a schema are then PostgreSQL's own. Otherwise a user who can make functions in a schema of the usual
    /// path, `public` before PostgreSQL 15, could have this role call theirs: `unnest(text[])` fits better than `unnest(anyarray)`.
    static let ownFunctions = "SET search_path = pg_catalog, pg_temp"

    /// As text, because `jsonb` takes 1.5 and 1.50 for equal.
    private func differs(_ one: String, _ other: String) -> String {
        "\(one).record::text IS DISTINCT FROM \(other).record::text"
    }

    private var upsert: String {
        let new = (names + ["record"]).map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", ")
        let columns = names.map { " OR t.\($0) IS DISTINCT FROM EXCLUDED.\($0)" }.joined()
        return """
            INSERT INTO \(target) AS t (\((["instance", key] + names + ["record"]).joined(separator: ", ")))
            SELECT \((["$1::text", "n.key"] + places.map { "n.\($0)" } + ["n.record"]).joined(separator: ", ")) FROM \(rows)
            ON CONFLICT (instance, \(key)) DO UPDATE SET \(new)
            WHERE \(differs("t", "EXCLUDED"))\(columns)
            """
    }

    private var current: String { "t.instance = n.instance AND t.\(key) = n.key AND t.valid_to IS NULL" }

    private var ending: String {
        """
        UPDATE \(target) AS t SET valid_to = greatest(n.time, t.valid_from) FROM \(rows)
        WHERE \(current) AND \(differs("t", "n"))
        """
    }

    private var filling: String {
        let pairs = zip(names, places)
        let new = pairs.map { "\($0) = n.\($1)" } + ["record = n.record"]
        let columns = pairs.map { "t.\($0) IS DISTINCT FROM n.\($1)" } + ["false"]
        return """
            UPDATE \(target) AS t SET \(new.joined(separator: ", ")) FROM \(rows)
            WHERE \(current) AND (\(columns.joined(separator: " OR ")))
            """
    }

    private var beginning: String {
        let columns = ["instance", key] + names + ["record", "version", "valid_from"]
        let values = ["$1::text", "n.key"] + places.map { "n.\($0)" } + ["n.record", "last.version + 1"]
        return """
            INSERT INTO \(target) (\(columns.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")), greatest(n.time, last.time) FROM \(rows)
            CROSS JOIN LATERAL (
                SELECT coalesce(max(t.version), 0) AS version, max(t.valid_to) AS time,
                    coalesce(bool_or(t.valid_to IS NULL), false) AS is_open
                FROM \(target) AS t WHERE t.instance = $1::text AND t.\(key) = n.key
            ) AS last
            WHERE NOT last.is_open
            """
    }
}
