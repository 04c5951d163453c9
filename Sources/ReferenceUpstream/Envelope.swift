internal import EntitySchema
internal import JSONText

/// Lays answers out as the schema says: each part at its path.
struct Envelope: Sendable {
    let plan: UpstreamPlan

    func list(_ rows: [JSONText], of list: ListPlan, page: Int, size: Int, total: Int) -> JSONText {
        let records = JSONText.array(rows)
        guard list.records != .itself else { return records }
        var parts: [(path: [Substring], value: JSONText)] = [(["success"], true), (Self.path(list.records), records)]
        var pages: Place?
        if case .page(let parameter, let place) = list.style {
            pages = place
            if let place = list.total ?? place {
                let beside = Self.path(place).dropLast()
                parts.append((beside + [parameter[...]], .integer(page)))
                if let name = list.size { parts.append((beside + [name[...]], .integer(size))) }
            }
        }
        if let place = list.total { parts.append((Self.path(place), .integer(total))) }
        if let place = pages { parts.append((Self.path(place), .integer((total + size - 1) / size))) }
        return Self.tree(parts[...])
    }

    func record(_ record: JSONText, at place: Place) -> JSONText {
        guard place != .itself else { return record }
        return Self.tree([(["success"], true), (Self.path(place), record)])
    }

    func account(_ id: String, at place: Place) -> JSONText {
        Self.tree([(["success"], true), (Self.path(place), .string(id))])
    }

    func error(_ refusal: Refusal) -> JSONText {
        Self.tree([
            (["success"], false), (plan.errorMessage.map(Self.path) ?? ["error"], .string(refusal.message)),
            (["code"], .string(refusal.code)),
        ])
    }

    private static func path(_ place: Place) -> [Substring] { place.paths[0].split(separator: ".") }

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
