import JSONText

/// Records of any schema as a table: the id, the fields that tell most, and how each stands with the upstream.
enum RecordTable {
    private static let mostColumns = 6

    /// `fields` are shown in their order; nil picks them.
    static func list(_ records: [JSONText], fields: [String]?) -> Table {
        let members = records.map { Dictionary($0.members.map { ($0.key, $0.value) }) { first, _ in first } }
        let columns = fields ?? self.columns(of: records)
        let hasState = records.contains { $0["_sync"] != nil }
        return Table(
            header: columns + (hasState ? ["sync"] : []),
            rows: zip(records, members).map { record, members in
                columns.map { members[$0]?.plain ?? "" } + (hasState ? [state(of: record)] : [])
            })
    }

    /// One record, a line a field.
    static func one(_ record: JSONText) -> Table {
        var rows = record.members.filter { $0.key != "_sync" }.map { [$0.key, $0.value.plain] }
        if let sync = record["_sync"] {
            rows.append(["sync", state(of: record)])
            if let error = sync["error"]?["message"]?.plain { rows.append(["error", error]) }
        }
        return Table(header: ["field", "value"], rows: rows)
    }

    /// `synced`, or `pending status,notes`.
    static func state(of record: JSONText) -> String {
        let fields = record["_sync"]?["pending_fields"]?.elements.map(\.plain) ?? []
        let state = record["_sync"]?["state"]?.plain ?? ""
        return fields.isEmpty ? state : "\(state) \(fields.joined(separator: ","))"
    }

    // MARK: Which fields tell most

    private static func columns(of records: [JSONText]) -> [String] {
        // A record begins with its key, whatever that is called.
        let key = records.first.flatMap { $0["id"] == nil ? $0.members.first?.key : nil } ?? "id"
        var names: [String] = []
        for record in records {
            for (name, value) in record.members where name != key && tells(name, value) && !names.contains(name) {
                names.append(name)
            }
        }
        let ranked = names.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
        return [key] + ranked.prefix(mostColumns).map(\.element)
    }

    /// A value that says something by itself: no keys of other records, nothing nested, nothing empty.
    private static func tells(_ name: String, _ value: JSONText) -> Bool {
        if name == "_sync" || name.hasSuffix("_id") || value.plain.isEmpty { return false }
        return value.kind != .object && value.kind != .array
    }

    private static func rank(_ name: String) -> Int {
        func isAny(of endings: [String]) -> Bool { endings.contains { name == $0 || name.hasSuffix("_\($0)") } }
        if isAny(of: ["number", "title", "name", "subject"]) { return 0 }
        if isAny(of: ["status", "state", "priority"]) { return 1 }
        if isAny(of: ["total", "amount", "price", "email", "phone", "brand", "model"]) { return 2 }
        if name == "updated_at" || name == "created_at" { return 3 }
        return name.hasSuffix("_at") ? 5 : 4
    }
}
