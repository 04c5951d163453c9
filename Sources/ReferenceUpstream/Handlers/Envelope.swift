internal import EntitySchema
internal import JSONText

/// Builds response bodies as the schema describes them: each part at its path.
struct Envelope: Sendable {
    let plan: UpstreamPlan

    /// `next` is the position of the next page, nil on the last.
    func list(
        _ rows: [JSONText], of list: ListPlan, _ query: ListQuery, total: Int, next: String?,
        delta: (place: Place, value: String)?
    ) -> JSONText {
        guard !Self.path(list.records).isEmpty else { return .array(rows) }
        var parts: [(path: [Substring], value: JSONText)] = [(["success"], true), Self.records(rows, at: list.records)]
        let place: Place?
        var position: (name: String, value: Int)?
        switch list.style {
        case .page(let parameter, let pages):
            place = list.total ?? pages
            position = (parameter, query.page)
        case .offset(let parameter):
            place = list.total
            position = query.offset.map { (parameter, $0) }
        case .cursor, .lastRecord, .link, .header, .headerURL, .nextURL, .single: place = nil
        }
        if let place, let position {
            let beside = Self.path(place).dropLast()
            parts.append((beside + [position.name[...]], .integer(position.value)))
            if let name = list.size { parts.append((beside + [name[...]], .integer(query.window.size))) }
        }
        if let place = list.total, list.style != .single { parts.append((Self.path(place), .integer(total))) }
        switch list.style {
        case .page(_, .some(let place)):
            let size = query.window.size
            let path = Self.path(place, query.page - list.first)
            parts.append((path, .integer(total / size + (total % size > 0 ? 1 : 0))))
        case .cursor(_, let place), .nextURL(let place): parts.append((Self.path(place), .string(next)))
        default: break
        }
        if let delta { parts.append((Self.path(delta.place), .string(delta.value))) }
        if let more = list.more { parts.append((Self.path(more), .boolean((next != nil) == list.moreIs))) }
        return Self.tree(parts[...])
    }

    /// With `*` in the place, each record is inside an object of its own: `list.entries.*.entry`.
    private static func records(_ rows: [JSONText], at place: Place) -> (path: [Substring], value: JSONText) {
        let path = path(place)
        guard let star = path.firstIndex(of: "*") else { return (path, .array(rows)) }
        let inner = Array(path[(star + 1)...])
        return (Array(path[..<star]), .array(rows.map { inner.isEmpty ? $0 : tree([(inner, $0)]) }))
    }

    func record(_ record: JSONText, at place: Place) -> JSONText {
        guard !Self.path(place).isEmpty else { return record }
        return Self.tree([(["success"], true), (Self.path(place), record)])
    }

    /// The words of the name stand at the places that the schema makes it of.
    func account(_ id: String, named name: String) -> JSONText {
        let place = plan.account?.id ?? Place(paths: ["id"])
        let names = (plan.account?.name?.names ?? []).map { $0.split(separator: ".") }
        let words = name.split(separator: " ", maxSplits: max(0, names.count - 1)).map { JSONText.string(String($0)) }
        return Self.tree(
            [(["success"], true), (Self.path(place), .string(id))] + zip(names, words).map { (path: $0, value: $1) })
    }

    func parts(_ parts: [(place: Place, value: JSONText)]) -> JSONText {
        Self.tree([(["success"], true)] + parts.map { (Self.path($0.place), $0.value) })
    }

    func error(_ refusal: Refusal) -> JSONText {
        Self.tree([
            (["success"], false), (plan.errorMessage.map { Self.path($0) } ?? ["error"], .string(refusal.message)),
            (["code"], .string(refusal.code)),
        ])
    }

    /// The first of several alternatives, or the one for this turn.
    static func path(_ place: Place, _ turn: Int = 0) -> [Substring] {
        JSONPath.steps(place.paths[turn % place.paths.count])
    }

    /// The object with each value at its path. A path through another part's value is dropped.
    static func tree(_ parts: ArraySlice<(path: [Substring], value: JSONText)>) -> JSONText {
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
