internal import EntitySchema
internal import GRDB
internal import JSONText

/// Which members each view of a record has (`sync_view`), inside the caller's transaction. A record without a row has
/// all of its members from its list.
struct ViewTable {
    typealias Members = [RecordView: Set<String>]

    let entity: String
    let db: Database

    /// Whether the views of any record of the entity differ.
    func isUsed() throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sync_view WHERE entity = ?)"), arguments: [entity])
            ?? false
    }

    func members(of key: String) throws -> Members? {
        let text = try String.fetchOne(
            db.cachedStatement(sql: "SELECT members FROM sync_view WHERE entity = ? AND record_key = ?"),
            arguments: [entity, key])
        guard let text else { return nil }
        let views = try JSONText(parsing: text).members.compactMap { name, names in
            RecordView(rawValue: name).map { ($0, Set(names.elements.map(\.plain))) }
        }
        return Dictionary(views) { first, _ in first }
    }

    /// Whether the record was read by its key, and its list leaves out one of the fields: a pull does not show that others
    /// have changed it, unless it asks for the record because of its change time (`when_changed`).
    func leaveOut(_ fields: [String], of key: String, _ entity: Entity) throws -> Bool {
        let isReadWhenChanged = entity.pull?.fetch?.isSingle == true && entity.pull?.whenChanged != nil
        guard !fields.isEmpty, !isReadWhenChanged, let views = try members(of: key), let single = views[.single] else {
            return false
        }
        let main = views[ViewMerge.main(of: entity)] ?? []
        let nested = NestedMembers(nests: entity.nests)
        return fields.compactMap { entity[field: $0] }.contains {
            !nested.hold($0, in: main) && nested.hold($0, in: single)
        }
    }

    /// Nil removes the row.
    func set(_ members: Members?, of key: String) throws {
        guard let members else {
            return try db.cachedStatement(sql: "DELETE FROM sync_view WHERE entity = ? AND record_key = ?")
                .execute(arguments: [entity, key])
        }
        let views = members.sorted { $0.key.rawValue < $1.key.rawValue }.map { view, names in
            (key: view.rawValue, value: JSONText.array(of: names.sorted()))
        }
        try db.cachedStatement(
            sql: "INSERT INTO sync_view VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET members = excluded.members"
        ).execute(arguments: [entity, key, JSONText.object(members: views).text])
    }
}
