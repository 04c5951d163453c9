/// Which collection a name refers to.
struct ReferenceTargets: Sendable {
    struct Target: Sendable, Equatable {
        var entity: String
        var key: String
        /// Whether the key is a number.
        var isNumber: Bool
        /// Whether an `…_id` that names a record has its key: its records may have another id beside a code.
        var isNamedByID: Bool
    }

    /// What documents call records of any kind: `listId` of an order is the key of no order.
    private static let anyKinds: Set = ["list", "data", "result", "response", "object", "value"]

    private let byStem: [String: Target]
    private let byPath: [String: Target]

    /// Of collections with the same name, a list of all records comes before one below another, and a shorter path before a
    /// longer one.
    init(_ collections: [Collection], _ shapes: ShapeReader) {
        var found: [String: Target] = [:]
        var paths: [String: Target] = [:]
        func add(_ target: Target, _ names: [String]) {
            for name in names {
                let stem = Words.folded(Words.singular(Words.snake(name)))
                if stem.count > 1, found[stem] == nil { found[stem] = target }
            }
        }
        let order = collections.sorted {
            ($0.path.parameters.count, $0.path.segments.count) < ($1.path.parameters.count, $1.path.segments.count)
        }
        let stems = Set(collections.map { Words.folded(Words.singular($0.base.last ?? "")) })
        for collection in order {
            let key = collection.answer.item[collection.key.value].map(shapes.shape)
            let isNumber = key?.isNumber ?? false
            // One that is a number where the key is a text, or the other way round, is told by that.
            let others = collection.answer.item.properties.filter { shapes.shape(of: $0).isNumber == isNumber }
            let target = Target(
                entity: collection.name, key: collection.key.value, isNumber: isNumber,
                isNamedByID: Self.isNamedByID(collection.key.value, others.map(\.name), stems))
            paths[collection.path.text] = target
            add(target, [collection.name, collection.base.last ?? ""])
        }
        // What a list is called comes before what the document calls its records.
        for collection in order {
            guard let target = paths[collection.path.text], let kind = collection.answer.item.name,
                !Self.anyKinds.contains(Words.folded(kind))
            else { continue }
            add(target, [kind])
        }
        (byStem, byPath) = (found, paths)
    }

    /// The collection whose list is at this path.
    func target(at path: String) -> Target? { byPath[path] }

    subscript(stem: String) -> Target? { byStem[Words.folded(Words.singular(stem))] }

    /// Before the name of a record in `external_order_id`: what it is called elsewhere, which is the key of none here.
    private static let foreign: Set = ["external", "ext", "foreign", "remote", "legacy"]

    private static let endings = ["_id", "_uuid", "_guid", "_sid", "_key", "_ref"]

    /// `others`: members of a record that may be what an `…_id` has. `stems`: what lists are called.
    private static func isNamedByID(_ key: String, _ others: [String], _ stems: Set<String>) -> Bool {
        guard !PathParameter.ends(key) else { return Words.parts(of: key).first.map(foreign.contains) != true }
        return !others.contains { name in
            let words = Words.parts(of: name)
            return ["id", "uuid", "guid", "sid"].contains(words.last) && !stems.contains(words.dropLast().joined())
        }
    }

    /// `plan_code` → plans, whose key is their `code`; `external_customer_id` → customers with an `external_id`.
    private func spelledOut(_ word: String) -> (target: Target, stem: String)? {
        let words = word.split(separator: "_").map(String.init)
        for count in 0...1 where words.count > count + 1 {
            let stem = words[count...].dropLast().joined(separator: "_")
            let key = (words.prefix(count) + words.suffix(1)).joined(separator: "_")
            if let target = self[stem], Words.snake(target.key) == key { return (target, stem) }
        }
        return nil
    }

    /// `assigned_user_id`, `userId` → users. `parent_id` names a record of the same list.
    func target(for name: String, in own: String) -> (target: Target, stem: String)? {
        let word = Words.snake(name)
        if let found = spelledOut(word), found.target.entity != own { return found }
        guard let ending = Self.endings.first(where: word.hasSuffix) else { return nil }
        let stem = String(word.dropLast(ending.count))
        if ending == "_key" {
            let target = self[stem]
            return target.flatMap { Words.folded($0.key).hasSuffix("key") ? ($0, stem) : nil }
        }
        if let target = self[stem] { return target.isNamedByID ? (target, stem) : nil }
        if stem == "parent", let target = byStem.values.first(where: { $0.entity == own }) { return (target, stem) }
        let words = stem.split(separator: "_").map(String.init)
        if words.first.map(Self.foreign.contains) == true { return nil }
        for count in stride(from: words.count - 1, to: 0, by: -1) {
            let tail = words.suffix(count).joined(separator: "_")
            if tail.count > 3, let target = self[tail] { return target.isNamedByID ? (target, stem) : nil }
        }
        return nil
    }
}
