/// Lists below a record that show records of another list, or only connect two others: the same record would come once for
/// each record above, and each time take the place of the one before.
struct Views {
    private let collections: [Collection]
    private let shapes: ShapeReader
    /// The lists of all records.
    private let whole: [Collection]
    private let parents: Parents
    /// What the records of other lists are called.
    private let stems: Set<String>
    /// What the records of all lists are called.
    private let names: Set<String>
    /// By their path without its version.
    private let versions: [String: [Collection]]

    init(_ collections: [Collection], _ shapes: ShapeReader) {
        self.collections = collections
        self.shapes = shapes
        whole = collections.filter { $0.path.parameters.isEmpty }
        parents = Parents(collections)
        versions = Dictionary(grouping: collections) { Self.unversioned($0.path) }
        stems = Set(whole.map { Words.folded(Words.singular($0.base.last ?? "")) })
        names = Set(collections.map { Words.folded(Words.singular($0.base.last ?? "")) })
    }

    /// Path → why the list is left out.
    func found() -> [String: String] {
        collections.reduce(into: [:]) { found, collection in
            if let reason = otherVersion(collection) ?? part(collection) ?? searched(collection) ?? unpaged(collection)
                ?? alsoFound(collection) ?? pair(collection) ?? occurrences(collection)
            {
                found[collection.path.text] = reason
                return
            }
            guard !collection.path.parameters.isEmpty else { return }
            found[collection.path.text] =
                linkage(collection) ?? sameRecords(collection) ?? membership(collection) ?? deeper(collection)
                ?? connection(collection)
                ?? sharedPath(collection, among: collections.filter { found[$0.path.text] == nil })
        }
    }

    /// `/v1/orders` beside `/v2/orders`: the one with the most calls is kept, or the newest.
    private func otherVersion(_ collection: Collection) -> String? {
        let all = versions[Self.unversioned(collection.path)] ?? []
        let same = all.filter { other in
            // Two paths that differ in more than the version, such as in the names in braces, are two lists.
            let isOther = other.path.form != collection.path.form || other.path == collection.path
            return isOther && other.key.value == collection.key.value && Self.areAlike(other, collection)
        }
        let best = same.max { Self.worth($0) < Self.worth($1) }
        guard let best, best.path != collection.path else { return nil }
        return "its records are those of \(best.path.text), in another version of the API"
    }

    private static func unversioned(_ path: PathPattern) -> String {
        PathPattern.form(path.segments.filter { !EntityNames.isVersion($0.lowercased()) })
    }

    private static func areAlike(_ one: Collection, _ other: Collection) -> Bool {
        let names = Set(one.answer.item.properties.map(\.name))
        let others = Set(other.answer.item.properties.map(\.name))
        return names.intersection(others).count * 10 >= 6 * min(names.count, others.count)
    }

    private static func worth(_ collection: Collection) -> (Int, Int, String) {
        let isTrial = collection.path.segments.contains { segment in
            let word = segment.lowercased()
            return EntityNames.isVersion(word) && (word.contains("alpha") || word.contains("beta"))
        }
        let calls = collection.recordCalls.count + (collection.creation == nil ? 0 : 1)
        return (calls, isTrial ? 0 : 1, collection.path.text)
    }

    /// `/products/{id}/entries` and `/shelves/{id}/entries`, when each entry is at `/entry/{id}`: the first one is kept.
    private func sharedPath(_ collection: Collection, among others: [Collection]) -> String? {
        guard let path = collection.recordPath, let first = others.first(where: { $0.recordPath == path }),
            first.path != collection.path
        else { return nil }
        return "its records are those of \(first.path.text): each of them is at \(path.text)"
    }

    private func sameRecords(_ collection: Collection) -> String? {
        guard !Self.changesRecords(collection) || connects(collection) else { return nil }
        let last = Words.folded(collection.path.lastSegment)
        let other = whole.first { other in
            guard other.key.value == collection.key.value else { return false }
            let (one, two) = (collection.answer.item, other.answer.item)
            if let name = one.name, name == two.name {
                return parents.isBelow(collection) || Words.folded(other.path.lastSegment) == last
            }
            return Words.folded(other.path.lastSegment) == last && isPart(one, of: two, collection)
        }
        return other.map(Self.mayBeBelowSeveral)
    }

    /// Whether its calls only connect records of another list with the one above: the creation sends nothing that they show, but
    /// for their key.
    private func connects(_ collection: Collection) -> Bool {
        guard let body = collection.creation?.bodies.first(where: \.isJSON)?.shape,
            collection.recordCalls.keys.allSatisfy(["GET", "DELETE"].contains)
        else { return false }
        let ids: Set = [collection.key.value, "type"]
        let own = Set(collection.answer.item.properties.map(\.name)).subtracting(ids)
        let members = body.properties + body.properties.prefix(10).flatMap { shapes.shape(of: $0).properties }
        return !members.contains { own.contains($0.name) && !shapes.shape(of: $0).isReadOnly }
    }

    private static func mayBeBelowSeveral(_ other: Collection) -> String {
        "its records are of the kind in \(other.path.text), and one of them may be below several others"
    }

    /// `/projects/{id}/teams` beside `/teams`, where a change sends or answers a `team_id`: it shows whole teams, each with what
    /// it may do in the project, and a change connects one with it.
    private func membership(_ collection: Collection) -> String? {
        let names = Set(collection.answer.item.properties.map(\.name))
        let ids = Set(PathParameter.stems(of: collection.path, last: 1).map { Words.folded($0) + "id" })
        let last = Words.folded(collection.path.lastSegment)
        let connects = collection.writes.contains { call in
            ([call.answer].compactMap(\.self) + call.bodies.map(\.shape)).flatMap(\.properties).contains {
                ids.contains(Words.folded($0.name)) && !names.contains($0.name)
            }
        }
        guard connects, parents.isBelow(collection) else { return nil }
        let other = whole.first { other in
            other.key.value == collection.key.value && Words.folded(other.path.lastSegment) == last
                && names.isSuperset(of: other.answer.item.properties.map(\.name))
        }
        return other.map(Self.mayBeBelowSeveral)
    }

    /// Whether records have nothing that those of the list of all lack, and none is created here: `/users/{id}/teams` may show
    /// less of a team than `/teams`.
    private func isPart(_ item: DataShape, of other: DataShape, _ collection: Collection) -> Bool {
        let (names, others) = (item.properties.map(\.name), other.properties.map(\.name))
        return names == others
            || (collection.creation == nil || connects(collection)) && names.count > 1
                && Set(names).isSubset(of: others)
    }

    /// `/tags/{id}/relationships/lists` of JSON:API, whose records are only a type and a key.
    private func linkage(_ collection: Collection) -> String? {
        let names = collection.answer.item.properties.map(\.name)
        guard collection.path.segments.dropLast().last == "relationships", names.contains("type"),
            Set(names).isSubset(of: ["id", "type", "links", "meta"])
        else { return nil }
        return "its records only name those of other lists"
    }

    /// Words after the path of a list for some of its records, or for what a new one looks like.
    private static let partWords: Set = [
        "search", "find", "query", "filter", "lookup", "latest", "last", "recent", "new", "updated", "top", "popular",
        "trending", "upcoming", "active", "mine", "my", "me", "own", "favorites", "favourites", "featured",
        "duplicates", "random", "paged", "ondeck", "details", "schema", "feed", "pinned",
    ]

    /// `/orders/latest` beside `/orders`, unless one of them has calls of its own or `/orders` answers only what is asked for.
    private func part(_ collection: Collection) -> String? {
        let last = collection.base.last ?? ""
        guard Self.partWords.contains(Words.folded(last)) || FindingLists.isFinding(last), collection.recordPath == nil,
            collection.creation == nil
        else { return nil }
        let above = PathPattern.form(collection.base.dropLast())
        let whole = collections.first { other in
            other.baseForm == above && other.asked.isEmpty
                && (areSame(collection, other) || shows(collection, other))
        }
        return whole.map { "its records are some of those of \($0.path.text)" }
    }

    /// Whether a part of a list has nearly the same names, and some of what they refer to: `/orders/recent` may show the customer
    /// of an order, and `/orders` only the key.
    private func shows(_ part: Collection, _ whole: Collection) -> Bool {
        let names = Set(part.answer.item.properties.map(\.name))
        let shared = names.intersection(whole.answer.item.properties.map(\.name)).count
        return part.key.value == whole.key.value && names.count > 3 && shared * 10 >= 8 * names.count
    }

    /// `/orders` and `/orders/pagination` have the same records: the first is kept, unless it answers only what is asked for.
    private func unpaged(_ collection: Collection) -> String? {
        let form = collection.baseForm
        let same = collections.filter { other in
            !other.path.findsParent && other.baseForm == form && areSame(collection, other)
        }
        guard same.contains(where: { Collection.pageWords.contains(Words.folded($0.path.lastSegment)) }),
            let best = same.first(where: { $0.asked.isEmpty && $0.path.form == form })
                ?? same.first(where: { $0.asked.isEmpty }), best.path != collection.path
        else { return nil }
        return "its records are those of \(best.path.text)"
    }

    /// `/orders/findByStatus` beside `/orders/findAll`: the one that needs the fewest parameters is kept.
    private func alsoFound(_ collection: Collection) -> String? {
        guard collection.path.findsParent else { return nil }
        let form = collection.baseForm
        let same = collections.filter { $0.baseForm == form && areSame(collection, $0) }
        let best = same.min { Self.need($0) < Self.need($1) }
        guard let best, best.path != collection.path else { return nil }
        return "its records are those of \(best.path.text), or some of them"
    }

    /// What a list asks for, the less the better.
    private static func need(_ collection: Collection) -> (Int, Int, Int, String) {
        (
            FindingLists.sought(collection.path.lastSegment).count, collection.asked.count,
            collection.path.findsParent ? 1 : 0, collection.path.text
        )
    }

    /// `/search/orders` beside `/orders`, likewise.
    private func searched(_ collection: Collection) -> String? {
        let base = collection.base
        guard base.dropLast().last.map(Words.folded) == "search", let last = base.last, collection.recordPath == nil,
            collection.creation == nil
        else { return nil }
        let form = PathPattern.form(base.dropLast(2) + [last])
        let whole = collections.first { other in
            other.baseForm == form && areSame(collection, other) && other.asked.isEmpty
        }
        return whole.map { "its records are some of those of \($0.path.text)" }
    }

    /// `/shops/{id}/shelves/{id}/books` beside `/shops/{id}/books`.
    private func deeper(_ collection: Collection) -> String? {
        let own = collection.path.segments
        guard own.count > 3, own[own.count - 2].contains("{"), !own[own.count - 3].contains("{"),
            !Self.changesRecords(collection), collection.creation == nil
        else { return nil }
        let upper = PathPattern.form(own.dropLast(3) + [own[own.count - 1]])
        let other = collections.first { other in
            other.path.form == upper && !other.path.parameters.isEmpty && areSame(collection, other)
        }
        return other.map { "its records are some of those of \($0.path.text)" }
    }

    /// Whether the records of two lists are of one kind, by what the document calls them or by all their names.
    private func areSame(_ one: Collection, _ other: Collection) -> Bool {
        guard one.key.value == other.key.value else { return false }
        if let name = one.answer.item.name, name == other.answer.item.name { return true }
        return one.answer.item.properties.map(\.name) == other.answer.item.properties.map(\.name)
    }

    /// Whether its calls serve or change a record, rather than connect it with the one above.
    private static func changesRecords(_ collection: Collection) -> Bool {
        collection.recordCalls.contains { method, call in
            switch method {
            case "GET": call.answer != nil
            case "DELETE": false
            case "PUT": call.bodies.contains { !$0.shape.properties.isEmpty }
            default: true
            }
        }
    }

    /// `{team_id, user_id}` below teams: only both together identify it.
    private func connection(_ collection: Collection) -> String? {
        let key = collection.key.value
        guard parents.isBelow(collection), PathParameter.ends(key), let above = collection.path.parameters.last,
            let stem = Words.parts(of: key).dropLast().last.map(Words.folded),
            stems.contains(stem),
            !PathParameter.stems(of: collection.path, last: 1).contains(stem) || !Self.changesRecords(collection),
            let upper = collection.answer.item.properties.first(where: {
                Words.folded($0.name) == Words.folded(above) && $0.name != key && PathParameter.ends($0.name)
            })
        else { return nil }
        return Self.needsBoth(upper.name, key)
    }

    /// `{workspace_id, team_id}` of `/workspace-teams` beside `/teams`, likewise.
    private func pair(_ collection: Collection) -> String? {
        let key = collection.key.value
        let words = Words.parts(of: Words.singular(collection.base.last ?? ""))
        guard words.count > 1, collection.recordPath == nil, let last = words.last, names.contains(last),
            Words.folded(key) == last + "id",
            let first = collection.answer.item.properties.first(where: {
                Words.folded($0.name) == words.dropLast().joined() + "id"
            })
        else { return nil }
        return Self.needsBoth(first.name, key)
    }

    /// `{device_id, geofence_id, start}` of `/reports/geofences` beside `/geofences`: each time that a device was in one.
    private func occurrences(_ collection: Collection) -> String? {
        let key = collection.key.value
        let own = PathParameter.stems(of: collection.path, last: 1).map(Words.folded)
        func stem(_ name: String) -> String { Words.parts(of: name).dropLast().joined() }
        guard collection.recordPath == nil, collection.creation == nil, PathParameter.ends(key),
            own.contains(stem(key)),
            let other = whole.first(where: { other in
                KeyGuess.isCertain(other.key.value) && other.base.last == collection.base.last
                    && other.path != collection.path && other.answer.item[key] == nil
            })
        else { return nil }
        let others = stems.subtracting(own)
        let isOfAnother = collection.answer.item.properties.contains { property in
            PathParameter.ends(property.name) && others.contains(stem(property.name))
        }
        return isOfAnother ? "\(key) names a record of \(other.path.text), maybe in several of its records" : nil
    }

    private static func needsBoth(_ one: String, _ other: String) -> String {
        "only \(one) and \(other) together identify its records: write key: { field: id, from: [\(one), \(other)] }"
    }
}
