internal import JSONText

/// Compares what the elements of a list are called, as servers tell tags apart: without spaces around, each once.
struct ListNames {
    private let inAnyOrder: Bool
    private let inAnyCase: Bool

    init(_ forms: Set<NormalForm>, inAnyOrder: Bool) {
        self.inAnyOrder = inAnyOrder
        inAnyCase = forms.contains(.lowercased)
    }

    /// Whether two lists have the same names. One of them may have objects, each with a name of its own as one of its members.
    func areSame(_ one: [JSONText], _ other: [JSONText]) -> Bool {
        guard one.allSatisfy(\.isName) else { return other.allSatisfy(\.isName) && areSame(other, one) }
        let mine = names(one)
        if other.allSatisfy(\.isName) { return isSame(mine, names(other)) }
        return Self.columns(of: other).contains { column in
            let theirs = names(column)
            return Set(theirs).count == column.count && isSame(mine, theirs)
        }
    }

    private func isSame(_ one: [String], _ other: [String]) -> Bool {
        one.count == other.count && (inAnyOrder ? Set(one) == Set(other) : one == other)
    }

    /// For each member that all objects of a list have: what may be their names. A number is one only in a key: elsewhere it
    /// may count something.
    private static func columns(of list: [JSONText]) -> [[JSONText]] {
        let objects = list.map(\.lastMembers)
        var keys = objects.first.map { Array($0.keys) } ?? []
        // Each step takes as long as the object before it is large.
        for object in objects {
            keys = keys.filter { key in
                guard let value = object[key] else { return false }
                return value.kind == .string || value.kind == .number && key.lowercased().hasSuffix("id")
            }
        }
        return keys.map { key in objects.compactMap { $0[key] } }
    }

    /// Each once, but numbers and times as often as they are there.
    private func names(_ values: [JSONText]) -> [String] {
        var seen: Set<String> = []
        return values.map { name($0.plain) }.filter { seen.insert($0).inserted || !$0.hasLetter }
    }

    private func name(_ text: String) -> String { inAnyCase ? text.spelling : text.withoutSpaceAround }

    /// The same for texts with names between commas or semicolons, in any order. What has no letter is no name: `1,000` is a
    /// number, and `48,11` a place.
    func areSame(_ one: String, _ other: String) -> Bool {
        let mine = names(in: one)
        return mine.count > 1 && mine == names(in: other) && mine.allSatisfy(\.hasLetter)
    }

    private func names(in text: String) -> Set<String> {
        Set(text.split { $0 == "," || $0 == ";" }.map { name(String($0)) }).subtracting([""])
    }
}

extension String {
    fileprivate var hasLetter: Bool { contains(where: \.isLetter) }
}
