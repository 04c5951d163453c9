internal import EntitySchema
internal import GRDB
internal import JSONText

/// Which members each view of a record has (`sync_view`), inside the caller's transaction. A record without a row has
/// all of its members from its list.
struct ViewTable {
    struct Members: Equatable, ExpressibleByDictionaryLiteral {
        var names: [RecordView: Set<String>]
        /// What the list last showed of members that the single record shows otherwise.
        var listed: [String: LastListed.Value] = [:]

        init(dictionaryLiteral names: (RecordView, Set<String>)...) {
            self.names = Dictionary(names) { first, _ in first }
        }

        subscript(view: RecordView) -> Set<String>? {
            get { names[view] }
            set { names[view] = newValue }
        }
    }

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
        let row = try JSONText(parsing: text)
        var members: Members = [:]
        for (name, names) in row.members {
            if let view = RecordView(rawValue: name) { members[view] = Set(names.elements.map(\.plain)) }
        }
        members.listed = (row[Self.listed]?.lastMembers ?? [:]).compactMapValues(Self.value)
        return members
    }

    /// Where a row has what the list last showed: name → [hash, since, hash of the single record's value].
    private static let listed = "listed"

    private static func value(_ text: JSONText) -> LastListed.Value? {
        let parts = text.elements
        guard parts.count == 3, let hash = UInt64(parts[0].plain, radix: 16), let since = parts[1].integer else {
            return nil
        }
        return LastListed.Value(
            hash: hash, since: Timestamp(milliseconds: Int64(since)), overruledBy: UInt64(parts[2].plain, radix: 16))
    }

    private static func text(_ value: LastListed.Value) -> JSONText {
        .array([
            .string(String(value.hash, radix: 16)), .integer(Int(value.since.milliseconds)),
            .string(value.overruledBy.map { String($0, radix: 16) }),
        ])
    }

    /// Whether the record was read by its key, and its list leaves out one of the fields: a pull does not show that others
    /// have changed it, unless it asks for the record because of its change time (`when_changed`).
    func leaveOut(_ fields: [String], of key: String, _ entity: Entity) throws -> Bool {
        let isReadWhenChanged = entity.isReadByKey && entity.pull?.whenChanged != nil
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
        var views = members.names.sorted { $0.key.rawValue < $1.key.rawValue }.map { view, names in
            (key: view.rawValue, value: JSONText.array(of: names.sorted()))
        }
        if !members.listed.isEmpty {
            let listed = members.listed.sorted { $0.key < $1.key }.map { (key: $0.key, value: Self.text($0.value)) }
            views.append((key: Self.listed, value: .object(members: listed)))
        }
        try db.cachedStatement(
            sql: "INSERT INTO sync_view VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET members = excluded.members"
        ).execute(arguments: [entity, key, JSONText.object(members: views).text])
    }
}
