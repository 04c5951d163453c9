import JSONText

/// Formats records of any schema as a table: the id, the most informative fields, and the sync state.
enum RecordTable {
    private static let maximumColumns = 6

    /// Shows `fields` in the given order; nil picks `kept`, which are never left out, and the most informative others, or
    /// all others if `isWide`.
    static func list(
        _ records: [JSONText], fields: [String]?, kept: [String] = [], isWide: Bool = false
    ) -> Table {
        let members = records.map { Dictionary($0.members.map { ($0.key, $0.value) }) { first, _ in first } }
        let columns = fields ?? self.columns(of: records, kept, isWide ? .max : maximumColumns)
        let hasState = records.contains { $0["_sync"] != nil }
        return Table(
            header: columns + (hasState ? ["sync"] : []),
            rows: zip(records, members).map { record, members in
                columns.map { members[$0]?.plain ?? "" } + (hasState ? [state(of: record)] : [])
            }, kept: Set(fields ?? kept + ["sync"]))
    }

    /// One record, one line per field.
    static func one(_ record: JSONText) -> Table {
        var rows = record.members.filter { $0.key != "_sync" }.map { [$0.key, $0.value.plain] }
        if let sync = record["_sync"] {
            rows.append(["sync", state(of: record)])
            if let error = sync["error"]?["message"]?.plain { rows.append(["error", error]) }
        }
        return Table(header: ["field", "value"], rows: rows, kept: ["value"], wrapped: ["value"], times: .whole)
    }

    /// `synced`, or `pending status,notes`.
    static func state(of record: JSONText) -> String {
        let fields = record["_sync"]?["pending_fields"]?.elements.map(\.plain) ?? []
        let state = record["_sync"]?["state"]?.plain ?? ""
        return TerminalText.line(fields.isEmpty ? state : "\(state) \(fields.joined(separator: ","))")
    }

    // MARK: Choosing the fields

    private static func columns(of records: [JSONText], _ kept: [String], _ most: Int) -> [String] {
        // The key is a record's first field, whatever its name.
        let key = records.first.flatMap { $0["id"] == nil ? $0.members.first?.key : nil } ?? "id"
        var names: [String] = []
        var known: Set<String> = [key]
        for (name, value) in records.lazy.flatMap(\.members) where isInformative(name, value) {
            if known.insert(name).inserted { names.append(name) }
        }
        let ranked = names.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
        var first = [key]
        for name in kept where known.contains(name) && !first.contains(name) { first.append(name) }
        let others = ranked.map(\.element).filter { !first.contains($0) }
        return first + others.prefix(max(most - first.count + 1, 0))
    }

    /// Whether a value is meaningful on its own: not a key of another record, not nested, not empty.
    private static func isInformative(_ name: String, _ value: JSONText) -> Bool {
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
