internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// A comparison of a value whose type the schema does not say: a place inside an object, or the elements of a list.
///
/// What the caller wrote is compared with texts as text, with numbers as a number if it is one, and with true and false.
struct PlaceCondition {
    let table: EntityTable
    let field: Field
    /// The members that lead to the place; empty for the field's own value.
    let inside: [String]
    let comparison: FilterComparison

    private static let deepest = 5

    func compiled(_ isNegated: Bool) throws(CacheError) -> CompiledFilter {
        try check()
        let part: BoundSQL
        switch comparison.operation {
        case .null:
            let wantsNull = try FilterValues.flag(of: comparison) != isNegated
            part = (
                "(SELECT coalesce(type, 'null') \(wantsNull ? "=" : "<>") 'null' FROM \(place.sql))", place.arguments
            )
        case .has:
            let value = whole(comparison.values)
            part = (
                """
                (SELECT iif(type = 'array', \(isNegated ? "NOT " : "")EXISTS (
                  SELECT 1 FROM json_each(part) WHERE \(value.sql)), NULL) FROM \(place.sql))
                """, value.arguments + place.arguments
            )
        default:
            let value = try scalar()
            part = (
                """
                (SELECT iif(coalesce(type, 'null') = 'null', NULL, \(isNegated ? "NOT " : "")(\(value.sql)))
                FROM \(place.sql))
                """, value.arguments + place.arguments
            )
        }
        return CompiledFilter(
            sql: part.sql, arguments: part.arguments, unindexed: [field.name], readsWholeValues: true)
    }

    private func check() throws(CacheError) {
        let name = comparison.path.joined(separator: ".").prefix(100)
        let members = [field.name, field.source].compactMap { $0.flatMap { Entity.steps($0).first } }
        guard !table.entity.secretPlaces.contains(where: { $0.path.first.map(members.contains) ?? false }) else {
            throw comparison.refusal("there are secrets in \(field.name), so lists cannot filter by what is in it")
        }
        guard inside.count <= Self.deepest else {
            throw comparison.refusal("\(name) is too deep; filters go at most \(Self.deepest) places into an object")
        }
        guard inside.allSatisfy({ !$0.isEmpty && !$0.contains("\"") }) else {
            throw comparison.refusal("\(name) names no place: a name is empty or has a quotation mark")
        }
        guard inside.isEmpty else { return }
        switch (field.kind, comparison.operation) {
        case (_, .null), (.list, .has): return
        case (.list, _):
            throw comparison.refusal("\(field.name) is a list; ask for one of its elements with \(name).has")
        case (.object, _):
            throw comparison.refusal("\(field.name) is an object; name a place in it, such as \(name).city")
        default: throw comparison.refusal("\(field.name) is not a list; .has is for lists")
        }
    }

    // MARK: Parts

    /// One row with the place's JSON as `part`, its `type` and, inside an object, its `value`; all null if there is no such
    /// place.
    private var place: BoundSQL {
        let json = table.value(of: field, by: "->", in: EntityTable.document)
        guard !inside.isEmpty else {
            return (
                "(SELECT part, json_type(part) AS type FROM (SELECT \(json) AS part))", []
            )
        }
        let path = "$" + inside.map { ".\"\($0)\"" }.joined()
        return (
            """
            (SELECT object -> path AS part, json_type(object, path) AS type, object ->> path AS value
            FROM (SELECT \(json) AS object, ? AS path))
            """, [path.databaseValue]
        )
    }

    private func scalar() throws(CacheError) -> BoundSQL {
        switch comparison.operation {
        case .equal, .among: return whole(comparison.values)
        case .notEqual, .notAmong:
            let part = whole(comparison.values)
            return ("NOT (\(part.sql))", part.arguments)
        case .starts, .contains:
            let text = try TextCondition.checked(comparison)
            return ("type = 'text' AND \(TextCondition.sql(of: "value", comparison.operation))", [text.databaseValue])
        default:
            let sql = "value \(comparison.operation.sql) ?"
            guard let number = FilterValues.number(comparison.value) else {
                return ("type = 'text' AND \(sql)", [comparison.value.databaseValue])
            }
            return ("type IN ('integer', 'real') AND \(sql)", [number])
        }
    }

    /// True for rows whose `value` is one of these.
    private func whole(_ texts: [String]) -> BoundSQL {
        let numbers = texts.compactMap(FilterValues.number)
        let words = texts.filter { $0 == "true" || $0 == "false" }
        var parts = ["type = 'text' AND value IN (\(FilterValues.placeholders(texts)))"]
        if !numbers.isEmpty {
            parts.append("type IN ('integer', 'real') AND value IN (\(FilterValues.placeholders(numbers)))")
        }
        if !words.isEmpty { parts.append("type IN (\(FilterValues.placeholders(words)))") }
        return (parts.joined(separator: " OR "), texts.map(\.databaseValue) + numbers + words.map(\.databaseValue))
    }
}
