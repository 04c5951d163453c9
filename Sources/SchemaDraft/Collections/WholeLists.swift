/// Joins the list of all records, `/variants`, with `/products/{id}/variants`, which shows each of them once more.
struct WholeLists {
    let shapes: ShapeReader

    /// Gives lists of all records the calls that only those below have. The result is path → why a list is left out.
    func join(_ collections: inout [Collection]) -> [String: String] {
        let parents = Parents(collections)
        var out: [String: String] = [:]
        for index in collections.indices where collections[index].path.parameters.isEmpty {
            let whole = collections[index]
            guard whole.asked.isEmpty else { continue }
            let below = collections.filter { parents.isBelow($0) && isSame($0, as: whole) }
            let reason = "its records are those of \(whole.path.text)"
            for other in below where hasAll(whole, of: other) { out[other.path.text] = reason }
            let left = below.filter { out[$0.path.text] == nil }
            guard left.count == 1, let other = left.first else { continue }
            if let joined = joined(whole, with: other, parents) {
                collections[index] = joined
                out[other.path.text] = reason
            } else if whole.recordCalls.isEmpty, whole.creation == nil, other.single != nil {
                out[whole.path.text] = "its records are those of \(other.path.text), where they can be changed"
            }
        }
        return out
    }

    /// Whether a list is below records that have their own list beside that of all, or above it, and shows the same.
    private func isSame(_ below: Collection, as whole: Collection) -> Bool {
        let (inner, outer) = (below.base, whole.base)
        let parent = Array(inner.dropLast(2))
        guard below.path.parameters.count == 1, inner.last == outer.last, below.key.value == whole.key.value,
            [parent, parent.dropLast()].contains(Array(outer.dropLast()))
        else { return false }
        let (one, two) = (below.answer.item, whole.answer.item)
        if let name = one.name, name == two.name { return true }
        let names = Set(one.properties.map(\.name))
        let shared = names.intersection(two.properties.map(\.name)).count
        return shared * 10 >= 8 * max(names.count, two.properties.count)
    }

    /// Whether the records of the whole list name those above, and all that can be done with the other's can be done with them.
    private func hasAll(_ whole: Collection, of other: Collection) -> Bool {
        let stem = Words.folded(Words.singular(other.base.dropLast(2).last ?? ""))
        let above = [stem, stem + "id"] + other.path.parameters.map(Words.folded)
        return above.contains { names($0, whole) } && (other.creation == nil || whole.creation != nil)
            && other.recordCalls.keys.allSatisfy { $0 == "GET" || whole.recordCalls[$0] != nil }
    }

    /// The whole list with the calls of the other one; nil if its records do not name the ones above them.
    private func joined(_ whole: Collection, with other: Collection, _ parents: Parents) -> Collection? {
        guard let path = other.recordPath, path.parameters.count == 2, let above = path.parameters.first,
            names(above, whole), let form = other.parentForm, let parent = parents.path(of: form)
        else { return nil }
        var joined = whole
        joined.recordPath = whole.recordPath ?? path
        joined.recordCalls.merge(other.recordCalls) { own, _ in own }
        joined.hasUnclearRecord = false
        joined.todos = whole.recordPath == nil ? other.todos : whole.todos
        if whole.creation == nil, let call = other.creation {
            joined.creationsBelow = [CreationBelow(call: call, parent: parent)]
        }
        return joined
    }

    /// Whether a record has a member of this name, other than its own key.
    private func names(_ parameter: String, _ collection: Collection) -> Bool {
        let name = Words.folded(parameter)
        guard !["id", "key", "name", "uuid", Words.folded(collection.key.value)].contains(name) else { return false }
        return collection.answer.item.properties.contains {
            Words.folded($0.name) == name && shapes.shape(of: $0).isTextOrNumber
        }
    }
}
