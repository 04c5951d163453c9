/// JSON Merge Patch (RFC 7396).
extension JSONText {
    /// This value with `patch` applied: objects are merged member by member, null removes a member, and any other value
    /// replaces what is there. Members keep their order; new ones follow.
    package func merged(with patch: JSONText) -> JSONText {
        guard patch.kind == .object else { return patch }
        var members: [(key: String, value: JSONText?)] = kind == .object ? self.members.map { ($0.key, $0.value) } : []
        // The last of several members of one name counts.
        var places: [String: Int] = [:]
        for (index, member) in members.enumerated() {
            if let earlier = places.updateValue(index, forKey: member.key) { members[earlier].value = .none }
        }
        for (name, value) in patch.members {
            if let place = places[name] {
                let old = members[place].value ?? .object([:])
                members[place].value = value.kind == .null ? .none : old.merged(with: value)
            } else if value.kind != .null {
                places[name] = members.count
                members.append((name, JSONText.object([:]).merged(with: value)))
            }
        }
        return .object(members: members.compactMap { name, value in value.map { (key: name, value: $0) } })
    }
}
