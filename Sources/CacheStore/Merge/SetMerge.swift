internal import JSONText

/// Two versions of a list merged as a set: additions of either side stay, removals of either side go.
struct SetMerge {
    let base: [JSONText]
    let local: [JSONText]
    let server: [JSONText]

    /// In the server's order, followed by local additions; each element once.
    var merged: JSONText {
        let kept = server.filter { Self.has(local, $0) || !Self.has(base, $0) }
        let added = local.filter { !Self.has(base, $0) && !Self.has(server, $0) }
        let elements = (kept + added).reduce(into: [JSONText]()) { elements, element in
            if !Self.has(elements, element) { elements.append(element) }
        }
        return .array(elements)
    }

    /// Whether the server's list shows every addition and removal of the local one.
    var isShown: Bool {
        let (added, removed) = (local.filter { !Self.has(base, $0) }, base.filter { !Self.has(local, $0) })
        return added.allSatisfy { Self.has(server, $0) } && !removed.contains { Self.has(server, $0) }
    }

    private static func has(_ list: [JSONText], _ element: JSONText) -> Bool {
        list.contains { $0.isEquivalent(to: element) }
    }
}
