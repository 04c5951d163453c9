internal import EntitySchema
internal import JSONText

/// A record whose nested objects, as far as fields are read from inside them, are members of the record itself: of
/// `{"properties":{"email":1}}` the name is `properties` and `email`, with a separator between.
///
/// So a view can show a part of such an object. A record of an entity without such fields is the same in both forms.
struct NestedMembers {
    /// `Entity.nests`.
    let nests: Set<[String]>

    /// No name in JSON has it but by an escape.
    private static let separator: Character = "\u{1F}"

    func names(of record: JSONText) -> Set<String> { Set(flat(record).members.map(\.key)) }

    /// Whether the names of a record hold a field, in either of its places.
    func hold(_ field: Field, in names: Set<String>) -> Bool { self.names(of: field).contains(where: names.contains) }

    /// The names under which a record may have the field.
    func names(of field: Field) -> [String] {
        let steps = field.source.map(JSONPath.steps) ?? []
        return [field.name] + steps.indices.map { steps[...$0].joined(separator: String(Self.separator)) }
    }

    func flat(_ record: JSONText) -> JSONText {
        nests.isEmpty ? record : .object(members: record.members.flatMap { flat([$0.key], $0.value) })
    }

    private func flat(_ path: [String], _ value: JSONText) -> [(key: String, value: JSONText)] {
        let members = value.kind == .object && nests.contains(path) ? value.members : []
        guard !members.isEmpty else { return [(path.joined(separator: String(Self.separator)), value)] }
        return members.flatMap { flat(path + [$0.key], $0.value) }
    }

    /// The opposite of `flat`.
    func nested(_ flat: JSONText) -> JSONText {
        nests.isEmpty ? flat : nested(flat.members.map { (path: steps($0.key)[...], value: $0.value) })
    }

    private func nested(_ all: [(path: ArraySlice<String>, value: JSONText)]) -> JSONText {
        var order: [String] = []
        var inside: [String: [(path: ArraySlice<String>, value: JSONText)]] = [:]
        for (path, value) in all {
            guard let name = path.first else { continue }
            if inside[name] == nil { order.append(name) }
            inside[name, default: []].append((path.dropFirst(), value))
        }
        return .object(
            members: order.map { name in
                let parts = inside[name] ?? []
                let deeper = parts.filter { !$0.path.isEmpty }
                return (name, deeper.isEmpty ? parts.last?.value ?? .null : nested(deeper))
            })
    }

    private func steps(_ name: String) -> [String] {
        let steps = name.split(separator: Self.separator, omittingEmptySubsequences: false).map(String.init)
        let isPath = steps.indices.dropFirst().allSatisfy { nests.contains(Array(steps[..<$0])) }
        return isPath ? steps : [name]
    }

    /// Those names that `shown`, which is flat, says something else about: an object that is no longer one, or has become
    /// one.
    func overruled(_ names: Set<String>, by shown: JSONText) -> Set<String> {
        guard !nests.isEmpty else { return [] }
        let values = shown.lastMembers
        let objects = Set(values.keys.flatMap(ancestors))
        return names.filter { name in
            objects.contains(name) || ancestors(name).contains { values[$0].map { $0.kind != .object } ?? false }
        }
    }

    /// Those names that are inside an object which `shown` has.
    func inside(_ names: Set<String>, of shown: Set<String>) -> Set<String> {
        guard !nests.isEmpty else { return [] }
        let objects = shown.union(shown.flatMap(ancestors))
        return names.filter { ancestors($0).contains(where: objects.contains) }
    }

    /// The objects around it.
    private func ancestors(_ name: String) -> [String] {
        let steps = steps(name)
        return steps.indices.dropFirst().map { steps[..<$0].joined(separator: String(Self.separator)) }
    }
}
