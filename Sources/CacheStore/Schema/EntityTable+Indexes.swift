internal import EntitySchema

/// The indexes of the table, what is found by them, and the view.
extension EntityTable {
    /// Index name → statement. Each has the indexed field and then the default order, so that a filtered list in that
    /// order is one range of the index; the row's `_pk`, which ends every index, breaks ties.
    var indexes: [String: String] {
        var indexes: [String: String] = [:]
        let order = entity.sort.map(\.field)
        for field in storedFields where field.indexed {
            let fields = [field.name] + order.filter { $0 != field.name && $0 != entity.key }
            let index = "\(entity.name)_by_\(field.name)"
            indexes[index] = """
                CREATE INDEX "\(index)" ON \(name) (\(fields.map { "\"\($0)\"" }.joined(separator: ", "))) \
                WHERE _deleted = 0
                """
        }
        for field in entity.fields where entity.ties.contains(where: { $0.field == field.name }) {
            let hidden = "\(entity.name)_hidden_by_\(field.name)"
            indexes[hidden] = "CREATE INDEX \"\(hidden)\" ON \(name) (\(sql(for: field.name))) WHERE _deleted <> 0"
            let displaced = "\(entity.name)_displaced_by_\(field.name)"
            indexes[displaced] = """
                CREATE INDEX "\(displaced)" ON \(name) (\(expression(for: field, in: "_remote"))) WHERE _displaced <> 0
                """
        }
        for field in entity.fields where field.isWaitedFor {
            let joined = "\(entity.name)_joined_by_\(field.name)"
            indexes[joined] = """
                CREATE INDEX "\(joined)" ON \(name) (\(sql(for: field.name)) COLLATE NOCASE) WHERE _deleted = 0
                """
        }
        if let fetch {
            let index = "\(entity.name)_with_new_\(entity.pull?.details.first?.entity ?? "record")"
            indexes[index] = "CREATE INDEX \"\(index)\" ON \(name) (_pk) WHERE \(outdated(fetch))"
        }
        if entity.content != nil {
            let index = "\(entity.name)_by_content"
            indexes[index] = "CREATE INDEX \"\(index)\" ON \(name) (_content) WHERE _content IS NOT NULL"
        }
        return indexes
    }

    /// The keys, or another column, of the records, hidden ones included, whose reference meets `condition` (`= ?1`) for
    /// readers. Each part has an index.
    func referring(by field: String, _ condition: String, _ column: String = "_key") -> String {
        ["_deleted = 0", "_deleted <> 0"].map { rows in
            "SELECT \(column) FROM \(name) WHERE \(rows) AND \(sql(for: field)) \(condition)"
        }.joined(separator: " UNION ALL ")
    }

    /// The same for the records whose reference meets it on the server, and not for readers.
    func displaced(by field: String, _ condition: String, _ columns: String = "_key") -> String {
        let reference = entity[field: field].map { expression(for: $0, in: "_remote") } ?? "NULL"
        return "SELECT \(columns) FROM \(name) WHERE _displaced <> 0 AND \(reference) \(condition)"
    }

    var fetch: PullPlan.Fetch? { entity.pull?.fetch }

    /// True for records that have to be fetched, or their children.
    func outdated(_ fetch: PullPlan.Fetch) -> String {
        "_detail IS NOT \(mark(fetch)) AND _remote IS NOT NULL AND _deleted = 0"
    }

    /// What changes when a record has to be fetched again, as text: the server's value of `when_changed`, or the time at
    /// which the server said anything new of it. Not null, so that what was never fetched is outdated.
    func mark(_ fetch: PullPlan.Fetch) -> String {
        switch fetch.trigger {
        case .any: return "coalesce(CAST(_synced_at AS TEXT), '')"
        case .field(let name):
            guard name != entity.key, let field = entity[field: name] else { return "_key" }
            return "coalesce(CAST(\(expression(for: field, in: "_remote")) AS TEXT), '')"
        }
    }

    /// Every field but those that are stored sealed, in the schema's order; times as text.
    var createView: String {
        let fields = entity.fields.filter { !$0.isStoredSealed }.map { field in
            "\(shown(field)) AS \"\(field.name)\""
        }
        return """
            CREATE VIEW \(view) AS SELECT \(fields.joined(separator: ", "))
            FROM (SELECT *, \(Self.document) AS _shown FROM \(name)) WHERE _deleted = 0
            """
    }

    private func shown(_ field: Field) -> String {
        guard field.name != entity.key else { return type(of: field) == "TEXT" ? "_key" : Self.number("_key") }
        return isStored(field) ? plain(for: field.name) : expression(for: field, in: "_shown")
    }
}
