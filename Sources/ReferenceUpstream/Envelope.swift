internal import EntitySchema
internal import JSONText

/// Lays answers out as the schema says: each part at its path.
struct Envelope: Sendable {
    let plan: UpstreamPlan

    func list(_ rows: [JSONText], page: Int, size: Int, total: Int) -> JSONText {
        let records = JSONText.array(rows)
        guard !plan.records.isEmpty else { return records }
        var parts: [(path: [Substring], value: JSONText)] = [(["success"], true), (Self.path(plan.records), records)]
        if let place = plan.pagination.total ?? plan.pagination.pages {
            let beside = Self.path(place).dropLast()
            parts.append((beside + [plan.pagination.page[...]], .integer(page)))
            parts.append((beside + [plan.pagination.size[...]], .integer(size)))
        }
        if let place = plan.pagination.total { parts.append((Self.path(place), .integer(total))) }
        if let place = plan.pagination.pages {
            parts.append((Self.path(place), .integer(total / size + (total % size == 0 ? 0 : 1))))
        }
        return Self.tree(parts[...])
    }

    func record(_ record: JSONText) -> JSONText {
        guard !plan.records.isEmpty else { return record }
        return Self.tree([(["success"], true), (Self.path(plan.records), record)])
    }

    func account(_ id: String, at path: String) -> JSONText {
        Self.tree([(["success"], true), (Self.path(path), .string(id))])
    }

    func error(_ refusal: Refusal) -> JSONText {
        Self.tree([
            (["success"], false), (Self.path(plan.errorMessage ?? "error"), .string(refusal.message)),
            (["code"], .string(refusal.code)),
        ])
    }

    private static func path(_ text: String) -> [Substring] { text.split(separator: ".") }

    /// The object in which each value stands at its path; a path that leads through another's value gives way to it.
    private static func tree(_ parts: ArraySlice<(path: [Substring], value: JSONText)>) -> JSONText {
        var names: [Substring] = []
        for part in parts {
            if let name = part.path.first, !names.contains(name) { names.append(name) }
        }
        return .object(
            members: names.map { name in
                let inside = parts.filter { $0.path.first == name }.map {
                    (path: Array($0.path.dropFirst()), value: $0.value)
                }
                let leaf = inside.first { $0.path.isEmpty }?.value
                return (key: String(name), value: leaf ?? tree(inside[...]))
            })
    }
}
