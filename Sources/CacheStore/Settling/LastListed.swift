internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// What a list last showed of members that the single record shows otherwise (`detail: { read: single }`): the list
/// cuts a text, or leaves refunds out of what is still due.
///
/// A list that only repeats such a value does not undo the single record that came after it. Otherwise the two would
/// change the record in turn, and each pull would read it again. A single record may itself be older than the list, so
/// it overrules only what the list has shown for longer than the server takes to settle.
struct LastListed {
    private let merge: ViewMerge
    private let now: Timestamp
    private let settle: Duration

    init(_ merge: ViewMerge, _ context: WriteContext) {
        self.merge = merge
        now = context.now
        settle = context.schema.upstream.settle
    }

    /// One member.
    struct Value: Equatable {
        /// The hash of what the list last showed, and when it did first.
        var hash: UInt64
        var since: Timestamp
        /// The hash of what the single record showed in its place once the server had settled.
        var overruledBy: UInt64?
    }

    private var entity: Entity { merge.entity }
    private var nested: NestedMembers { NestedMembers(nests: entity.nests) }

    /// The same as `ViewMerge.result`, without what the list only repeats.
    func result(_ shown: JSONText, over known: JSONText?, _ members: ViewTable.Members?) -> ViewMerge.Result {
        guard let known, known.kind == .object, let members, members[.single] != nil,
            entity.isReadByKey
        else { return merge.result(shown, over: known, members) }
        let fresh = withoutRepeats(shown, over: known, members)
        var result = merge.result(fresh, over: known, members)
        if fresh != shown, result.record.isEquivalent(to: known) { result.record = known }
        // Most records of a list that is read again.
        let isIdle = merge.view == .list && !merge.isPartial && fresh == shown && result.record == known
        let listed = isIdle ? [:] : listed(shown, over: known, members)
        if result.members == nil, !listed.isEmpty {
            result.members = merge.noted(merge.names(of: fresh), known, members)
        }
        result.members?[merge.view]?.formUnion(merge.names(of: shown))
        result.members?.listed = listed
        return result
    }

    /// The list's view. Where it repeats what the single record has overruled, it gets the record's value, as long as that is still
    /// the single record's.
    private func withoutRepeats(
        _ shown: JSONText, over known: JSONText, _ members: ViewTable.Members
    ) -> JSONText {
        guard merge.view == .list, !members.listed.isEmpty else { return shown }
        let own = nested.flat(known).lastMembers
        let all = nested.flat(shown).members
        let repeated = Set(
            all.filter { name, value in
                guard let last = members.listed[name], let single = last.overruledBy, hash(value) == last.hash else {
                    return false
                }
                return other(name, in: known, own).map(hash) == single
            }.map(\.key))
        guard !repeated.isEmpty else { return shown }
        let kept = all.compactMap { name, value -> (key: String, value: JSONText)? in
            repeated.contains(name) ? own[name].map { (key: name, value: $0) } : (key: name, value: value)
        }
        return nested.nested(.object(members: kept))
    }

    /// What is to be kept of what the list last showed.
    private func listed(
        _ shown: JSONText, over known: JSONText, _ members: ViewTable.Members
    ) -> [String: Value] {
        switch merge.view {
        case .list: listedNow(shown, over: known, members)
        case .single: overruled(by: shown, members)
        case .embedded, .answer: members.listed
        }
    }

    private func listedNow(
        _ shown: JSONText, over known: JSONText, _ members: ViewTable.Members
    ) -> [String: Value] {
        let single = members[.single] ?? []
        let own = nested.flat(known).lastMembers
        var listed = merge.isPartial ? members.listed : [:]
        // What is only shorter there is no other value.
        let whole = ShortList(entity: entity, view: merge.view).completed(shown, by: known, members)
        for (name, value) in nested.flat(whole).members {
            listed[name] = nil
            let field = entity[field: name]
            guard single.contains(name) || field.map({ nested.hold($0, in: single) }) == true,
                let other = other(name, in: known, own), !value.isEquivalent(to: other),
                field?.isSame(value, other) != true
            else { continue }
            let new = Value(hash: hash(value), since: now)
            let last = members.listed[name]
            listed[name] = last.flatMap { $0.hash == new.hash && $0.since <= now ? $0 : nil } ?? new
        }
        return listed
    }

    private func overruled(by shown: JSONText, _ members: ViewTable.Members) -> [String: Value] {
        guard !members.listed.isEmpty else { return [:] }
        let own = nested.flat(shown).lastMembers
        return members.listed.reduce(into: [:]) { kept, listed in
            guard let value = other(listed.key, in: shown, own), hash(value) != listed.value.hash else { return }
            kept[listed.key] = listed.value
            if now >= listed.value.since + settle { kept[listed.key]?.overruledBy = hash(value) }
        }
    }

    /// What a record has of a member: under the same name, or in the other place of the field with that name. `own`:
    /// the flat record.
    private func other(_ name: String, in record: JSONText, _ own: [String: JSONText]) -> JSONText? {
        own[name] ?? entity[field: name]?.source.flatMap { record.at(path: $0) }
    }

    private func hash(_ value: JSONText) -> UInt64 { ContentHash.of(value.bytes) }
}
