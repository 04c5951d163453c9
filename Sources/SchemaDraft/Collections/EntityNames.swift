internal import EntitySchema

/// Names collections after their paths, each differently and as a schema allows.
struct EntityNames {
    /// Words at the end of a path that say too little alone.
    private static let vague: Set = [
        "all", "list", "list_all", "list_create", "get_all", "getall", "mine", "by", "search", "index", "current", "me",
        "find", "query", "items", "objects", "values",
    ]

    func name(_ collections: inout [Collection]) {
        var taken: Set<String> = []
        let order = collections.indices.sorted { Self.rank(collections[$0], $0) < Self.rank(collections[$1], $1) }
        for index in order {
            let candidates = Self.candidates(collections[index].path)
            let name = candidates.first { !taken.contains($0) } ?? Self.numbered(candidates.last ?? "records", taken)
            taken.insert(name)
            collections[index].name = name
        }
    }

    /// The list that all others are named beside comes first: without parameters, short, with records of its own.
    private static func rank(_ collection: Collection, _ index: Int) -> (Int, Int, Int, Int) {
        (
            collection.path.parameters.count, collection.path.segments.count, collection.recordPath == nil ? 1 : 0,
            index
        )
    }

    /// From the shortest to the longest.
    static func candidates(_ path: PathPattern) -> [String] {
        let segments = path.findsParent ? Collection.base(of: path) : PathPattern.withoutJSON(path.segments)
        let names = segments.filter { PathPattern.parameters($0).isEmpty }
        var words = names.map(Words.snake).filter { !$0.isEmpty && !["api", "rest"].contains($0) && !isVersion($0) }
        if path.findsParent, let last = words.popLast() { words.append(Words.plural(last)) }
        guard let last = words.last else { return ["records"] }
        var candidates: [String] = []
        for count in 1...words.count {
            let tail = words.suffix(count)
            let isVague = vague.contains(last) || Collection.pageWords.contains(Words.folded(last))
            if count == 1, isVague, words.count > 1 { continue }
            var name = tail.joined(separator: "_")
            if Collection.listWords.contains(Words.folded(last)), count > 1 {
                name = tail.dropLast().joined(separator: "_")
            }
            candidates.append(valid(name))
        }
        return candidates.filter { !isReserved($0) } + [valid("\(last)_list")]
    }

    static func isVersion(_ word: String) -> Bool {
        word.first == "v" && word.dropFirst().first?.isNumber == true && word.count < 8
    }

    static func isReserved(_ name: String) -> Bool {
        EntitySchema.reservedEntityNames.contains(name)
            || EntitySchema.reservedEntityPrefixes.contains { name.hasPrefix($0) }
    }

    /// A letter, then letters, digits and `_`, at most 55 characters.
    static func valid(_ name: String) -> String {
        let text = name.first?.isLetter == true ? name : "list_\(name)"
        return String(text.prefix(55))
    }

    private static func numbered(_ name: String, _ taken: Set<String>) -> String {
        var number = 2
        while taken.contains("\(name)_\(number)") { number += 1 }
        return "\(name)_\(number)"
    }
}
