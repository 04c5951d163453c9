/// Settles the keys of records below other records, once all collections are known.
struct NestedKeys {
    let shapes: ShapeReader

    func settle(_ found: inout CollectionFinder.Found) {
        align(&found.collections)
        keepOwn(&found.collections)
        leaveCounters(&found)
    }

    /// Records in a list below another record get the key of the list of all such records, unless their own is certain.
    private func align(_ collections: inout [Collection]) {
        let whole = collections.filter { $0.path.parameters.isEmpty }
        for index in collections.indices {
            let own = collections[index]
            guard !own.path.parameters.isEmpty, own.recordPath == nil, !KeyGuess.isCertain(own.key.value) else {
                continue
            }
            let other = whole.first { other in
                other.base.last == own.base.last && own.answer.item[other.key.value] != nil
            }
            guard let other, other.key.value != own.key.value else { continue }
            collections[index].key = Guess(other.key.value, "as in \(other.path.text)")
        }
    }

    /// `{location_id}` in the path of an item's stock names the location, which other items have too. The stock's own `id` is
    /// its key.
    private func keepOwn(_ collections: inout [Collection]) {
        let whole = collections.filter { $0.path.parameters.isEmpty }
        let others = Set(whole.flatMap { PathParameter.stems(of: $0.path, last: 1) }.map(Words.folded))
        for index in collections.indices where !collections[index].path.parameters.isEmpty {
            let own = collections[index]
            let words = Words.parts(of: own.key.value)
            let stem = Words.folded(words.dropLast().joined())
            guard PathParameter.ends(own.key.value), others.contains(stem),
                !PathParameter.stems(of: own.path, last: 1).map(Words.folded).contains(stem),
                let id = own.answer.item.properties.first(where: { Words.folded($0.name) == "id" }),
                shapes.shape(of: id).isTextOrNumber
            else { continue }
            collections[index].key = Guess(id.name, "its name")
        }
    }

    /// `{issue_number}` in the path of a project's issue is its number, which mostly begins at 1 in each project. The issue's
    /// own `id` is its key; without one, the issues of two projects could not be told apart, unless `/issues/{number}` does. So
    /// for a name, such as that of a label; without an `id`, its key is also that of the project, see `KeyBelow`.
    private func leaveCounters(_ found: inout CollectionFinder.Found) {
        let parents = Parents(found.collections)
        for index in found.collections.indices.reversed() where parents.isBelow(found.collections[index]) {
            let own = found.collections[index]
            guard let counter = own.answer.item[own.key.value] else { continue }
            let isCounter = shapes.shape(of: counter).kind == .integer && !KeyGuess.isCertain(own.key.value)
            let isName = KeyGuess.mayRepeat(own.key.value) && own.recordPath?.parameters.count != 1
            guard isCounter || isName else { continue }
            let id = own.answer.item.properties.first { Words.folded($0.name) == "id" }
            if let id, shapes.shape(of: id).isTextOrNumber {
                found.collections[index].key = Guess(
                    id.name, "its name; \(counter.name) may repeat below another record")
            } else if isCounter, !PathParameter.ends(counter.name), own.recordPath?.parameters.count != 1 {
                found.collections.remove(at: index)
                let reason = "\(counter.name) may repeat below another record, and nothing else identifies its records"
                found.leftOut.append(LeftOut(path: own.path.text, why: .noKey, reason: reason))
            }
        }
    }
}
