internal import JSONText

/// Three versions of an object of which only the members that change are sent (RFC 7396).
struct MemberMerge {
    let base: JSONText
    let local: JSONText
    let server: JSONText
    /// What was sent before the local object was made. The server may have any of it.
    var sent: [JSONText] = []

    /// The server's object with the members that changed here; nil if one of them changed there, too.
    var merged: JSONText? {
        let (before, here, there) = (base.lastMembers, local.lastMembers, server.lastMembers)
        var result = there
        for name in Set(before.keys).union(here.keys) {
            let (old, mine, theirs) = (before[name] ?? .null, here[name] ?? .null, there[name] ?? .null)
            if mine.isEquivalent(to: old) || mine.isEquivalent(to: theirs) { continue }
            let earlier = sent.compactMap { $0[name] }
            if [old, mine, theirs].allSatisfy({ $0.kind == .object }) {
                let inner = MemberMerge(base: old, local: mine, server: theirs, sent: earlier).merged
                guard let inner else { return nil }
                result[name] = inner
            } else if theirs.isEquivalent(to: old) || earlier.contains(where: theirs.isEquivalent) {
                result[name] = here[name]
            } else {
                return nil
            }
        }
        let names = server.members.map(\.key) + local.members.map(\.key).filter { there[$0] == nil }
        return .object(members: names.compactMap { name in result[name].map { (key: name, value: $0) } })
    }
}
