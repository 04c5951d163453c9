internal import JSONText

/// Two versions of a list merged as a set: additions of either side stay, removals of either side go.
struct SetMerge {
    let base: [JSONText]
    let local: [JSONText]
    let server: [JSONText]
    /// What was sent before the local list was made. The server may have any of it; what the local list lacks was taken out.
    var sent: [JSONText] = []

    /// In the server's order, followed by local additions; each element once.
    var merged: JSONText {
        let (before, here, there) = (Self.keys(base), Self.keys(local), Self.keys(server))
        let known = before.union(Self.keys(sent))
        let kept = server.filter { element in
            let key = EquivalenceKey.Digest(element)
            return here.contains(key) || !known.contains(key)
        }
        let added = local.filter { element in
            let key = EquivalenceKey.Digest(element)
            return !before.contains(key) && !there.contains(key)
        }
        var seen: Set<EquivalenceKey.Digest> = []
        return .array((kept + added).filter { seen.insert(EquivalenceKey.Digest($0)).inserted })
    }

    /// Whether the server's list shows every addition and removal of the local one.
    var isShown: Bool {
        let (before, here, there) = (Self.keys(base), Self.keys(local), Self.keys(server))
        return here.subtracting(before).isSubset(of: there) && before.subtracting(here).isDisjoint(with: there)
    }

    private static func keys(_ list: [JSONText]) -> Set<EquivalenceKey.Digest> {
        Set(list.lazy.map { EquivalenceKey.Digest($0) })
    }
}
