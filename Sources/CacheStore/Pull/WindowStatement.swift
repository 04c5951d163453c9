internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// Finds the records that may leave an entity's window, in SQL: those outside that nothing holds.
///
/// A column may say less than the record (an amount in it is rounded), so the caller asks `RecordTest` about each one
/// that is found. What is queued is the same for readers and the server where `_local` is null.
struct WindowStatement {
    let table: EntityTable
    let ties: WindowTies
    let test: RecordTest
    let schema: EntitySchema

    /// Selects `_pk`s; the parameter is the time in milliseconds after which an acknowledged change may not have settled.
    /// `among`: a condition that limits them further.
    func leaving(among condition: String = "true") -> String {
        let references = ties.references.map { "AND NOT EXISTS (\($0.referring(to: "record._key")))" }
        // One search for each range: SQLite would rather read the whole table than combine so many with OR.
        let outside = test.alternatives.map { conditions in
            let searches = conditions.flatMap(fails).map { range in
                "SELECT _pk FROM \(table.name) WHERE _deleted = 0 AND \(range)"
            }
            return "AND record._pk IN (\(searches.joined(separator: " UNION ")))"
        }
        return """
            SELECT record._pk FROM \(table.name) AS record
            WHERE record._deleted = 0 AND record._local IS NULL AND record._remote IS NOT NULL AND \(condition)
              \(outside.joined(separator: " "))
              AND record._key NOT IN (\(held(table.entity, seen: [])))
              \(references.joined(separator: " "))
            """
    }

    /// Selects one record that the list shows; null when there is none.
    var inside: String {
        let outside = test.alternatives.map { conditions in
            conditions.flatMap(fails).map { "(\($0))" }.joined(separator: " OR ")
        }
        return """
            SELECT 1 FROM \(table.name) WHERE _remote IS NOT NULL AND _deleted = 0
              AND (\(outside.map { "(\($0))" }.joined(separator: " AND "))) IS NOT TRUE LIMIT 1
            """
    }

    // MARK: What is held

    /// Selects the keys of the entity's records that must not leave: something of theirs is queued, disputed or not
    /// settled, or of a record that would leave with them, or something is queued of a record that refers to them.
    private func held(_ entity: Entity, seen: Set<String>) -> String {
        let name = entity.name.quoted(by: "'")
        var parts = [
            "SELECT record_key FROM sync_outbox WHERE entity = \(name)",
            "SELECT record_key FROM sync_conflict WHERE entity = \(name) AND winner IS NULL",
            """
            SELECT record_key FROM sync_settling
              WHERE entity = \(name) AND at > ?1 AND (kind = 'created' OR confirmed = 0)
            """,
        ]
        let seen = seen.union([entity.name])
        for child in WindowTies(of: entity, in: schema).children where !seen.contains(child.table.entity.name) {
            let parent = child.table.sql(for: child.field, of: "child.")
            parts.append(
                """
                SELECT \(parent) FROM \(child.table.name) AS child
                  WHERE \(parent) IS NOT NULL AND child._key IN (\(held(child.table.entity, seen: seen)))
                """)
        }
        return (parts + neededByQueue(entity)).joined(separator: " UNION ALL ")
    }

    /// Selects the keys of records that a queued change's record refers to: the address of that change may need one of their
    /// values. This holds for every reference, with every value of `keep`.
    private func neededByQueue(_ entity: Entity) -> [String] {
        schema.entities.filter { !$0.isLocal }.flatMap { (other: Entity) -> [String] in
            let table = EntityTable(entity: other)
            return other.fields.filter { $0.kind == .reference(to: entity.name) }.map { (field: Field) -> String in
                let reference = table.sql(for: field.name, of: "other.")
                return """
                    SELECT \(reference) FROM \(table.name) AS other
                      WHERE \(reference) IS NOT NULL AND other._key IN (
                        SELECT record_key FROM sync_outbox WHERE entity = \(other.name.quoted(by: "'")))
                    """
            }
        }
    }

    // MARK: Conditions

    /// Ranges of an index; a record in one of them fails the condition.
    private func fails(_ condition: RecordTest.Condition) -> [String] {
        let column = table.sql(for: condition.field)
        let field = table.entity[field: condition.field]
        switch condition.comparison {
        case .isOneOf: return isNone(of: condition.values, column, field)
        case .isNoneOf: return isOne(of: condition.values, column, field)
        case .isLess: return fails(column, ">=", condition, field)
        case .isAtMost: return fails(column, ">", condition, field)
        case .isGreater: return fails(column, "<=", condition, field)
        case .isAtLeast: return fails(column, "<", condition, field)
        }
    }

    /// A missing value and one of another type fail a comparison by size; text is greater than all numbers.
    private func fails(
        _ column: String, _ sign: String, _ condition: RecordTest.Condition, _ field: Field?
    ) -> [String] {
        let bound = (condition.values.first ?? nil) ?? ""
        if field?.kind == .date { return ["\(column) \(sign) \(bound.quoted(by: "'"))", "\(column) IS NULL"] }
        guard let field, field.kind == .time else {
            let number = (try? JSONText(parsing: bound)).flatMap { $0.kind == .number ? $0.text : nil } ?? "0"
            return ["\(column) \(sign) \(number)", "\(column) IS NULL", "\(column) >= ''"]
        }
        guard let time = Timestamp(iso8601: bound) else { return ["false"] }
        guard table.isTimeColumn(field) else {
            return ["\(column) \(sign) \(time.description.quoted(by: "'"))", "\(column) IS NULL"]
        }
        return ["\(column) \(sign) \(time.milliseconds)", "\(column) IS NULL", "\(column) >= ''"]
    }

    private func isOne(of values: [String?], _ column: String, _ field: Field?) -> [String] {
        let texts = values.compactMap(\.self).map { literal($0, field) }
        let listed = texts.isEmpty ? [] : ["\(column) IN (\(texts.joined(separator: ", ")))"]
        return listed + (values.contains(nil) ? ["\(column) IS NULL"] : [])
    }

    /// The ranges between the values, which an index can seek where `NOT IN` reads every row.
    private func isNone(of values: [String?], _ column: String, _ field: Field?) -> [String] {
        let missing = values.contains(nil) ? [] : ["\(column) IS NULL"]
        let texts = values.compactMap(\.self)
        guard !texts.isEmpty else { return ["\(column) IS NOT NULL"] }
        guard isText(field) else {
            return ["\(column) NOT IN (\(texts.map { literal($0, field) }.joined(separator: ", ")))"] + missing
        }
        let sorted = Set(texts).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { literal($0, field) }
        let between = zip(sorted, sorted.dropFirst()).map { "\(column) > \($0) AND \(column) < \($1)" }
        return ["\(column) < \(sorted[0])"] + between + ["\(column) > \(sorted[sorted.count - 1])"] + missing
    }

    private func isText(_ field: Field?) -> Bool {
        switch field?.kind {
        case .string, .enum, .reference: true
        default: false
        }
    }

    private func literal(_ value: String, _ field: Field?) -> String {
        if field?.kind == .boolean, ["true", "false"].contains(value) { return value == "true" ? "1" : "0" }
        return value.quoted(by: "'")
    }
}
