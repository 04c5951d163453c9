internal import EntitySchema
internal import JSONText

/// A list that abridges parts of its records. Each record is also read by its key when the list shows a change of it
/// (`detail: { read: single }`).
///
/// What the list only shows in short is no change. Otherwise list and single record would change the record in turn, and each
/// pull would read all of them again.
struct ShortList {
    let entity: Entity
    let view: RecordView

    /// The list's view with the lists of objects of the single record, or of the answer to a change, where it has the same ones
    /// with fewer members.
    func completed(_ shown: JSONText, by known: JSONText, _ members: ViewTable.Members?) -> JSONText {
        guard view == .list, entity.isReadByKey, let members else { return shown }
        let fuller = (members[.single] ?? []).union(members[.answer] ?? [])
        guard !fuller.isEmpty else { return shown }
        let whole = known.lastMembers
        let longer = shown.members.filter { name, value in
            fuller.contains(name) && isShort(value, of: name, whole[name])
        }.map { (key: $0.key, value: whole[$0.key] ?? $0.value) }
        return longer.isEmpty ? shown : shown.setting(.object(members: longer))
    }

    /// The same for fields that were changed here not long ago, with what was sent or answered, or with what the list shows
    /// while it is behind. Otherwise the single record that comes next would be taken for the value from before.
    func completed(_ shown: JSONText, by row: Settling) -> JSONText {
        guard view == .list, entity.isReadByKey else { return shown }
        let longer = row.parts.compactMap { name, part -> (key: String, value: JSONText)? in
            guard let value = shown[name], !part.earlier.contains(where: value.isEquivalent),
                let whole = ([part.ours] + part.earlier).first(where: { isShort(value, of: name, $0) })
            else { return nil }
            return (key: name, value: whole)
        }
        return longer.isEmpty ? shown : shown.setting(.object(members: longer))
    }

    /// Whether it must be noted which members each view has, though the list has all of them: without that, the next view
    /// could not be judged.
    func needsViews(
        _ shown: JSONText, isCompleted: Bool, over known: JSONText, _ members: ViewTable.Members?
    ) -> Bool {
        guard entity.isReadByKey else { return false }
        guard view == .single else { return isCompleted }
        guard members == nil else { return true }
        let whole = shown.lastMembers
        return known.members.contains { name, value in whole[name].map { $0 != value } ?? false }
    }

    /// Whether the record differs only in spaces or in the order of its members: because it was put together from several
    /// views, or because the single record is written so.
    func isRepeat(_ record: JSONText, of known: JSONText, isMixed: Bool) -> Bool {
        switch view {
        case .list: isMixed && record.isEquivalent(to: known)
        case .single: entity.isReadByKey && record.lastMembers == known.lastMembers
        case .embedded, .answer: false
        }
    }

    /// Members of an object that callers edit may have been removed from it.
    private func isShort(_ value: JSONText, of name: String, _ whole: JSONText?) -> Bool {
        guard let whole else { return false }
        if case .object? = entity[field: name]?.kind { return false }
        return value.abridges(whole) || isWholeSecond(value, of: whole)
    }

    /// Whether the list shows a time without the fraction of its second: cut off or rounded.
    private func isWholeSecond(_ value: JSONText, of whole: JSONText) -> Bool {
        guard value.kind == .string, whole.kind == .string, let short = entity.instant(value),
            let exact = entity.instant(whole)
        else { return false }
        return short.milliseconds % 1000 == 0 && exact.milliseconds % 1000 != 0
            && abs(short.milliseconds - exact.milliseconds) < 1000
    }
}

extension Entity {
    /// Whether each record is also read by its key, since the list shows it only in part (`detail: { read: single }`).
    var isReadByKey: Bool { pull?.fetch?.isSingle ?? false }
}

extension JSONText {
    /// Whether this is an object with some of another's members, or a list of such objects in the same order.
    ///
    /// Only in so many objects within one another: what is inside each of them is compared as a whole first.
    fileprivate func abridges(_ whole: JSONText, levels: Int = 8) -> Bool {
        guard levels > 0 else { return false }
        switch (kind, whole.kind) {
        case (.array, .array):
            let (mine, all) = (elements, whole.elements)
            return !mine.isEmpty && mine.count == all.count
                && zip(mine, all).allSatisfy { $0.kind == .object && $0.abridges($1, levels: levels) }
        case (.object, .object):
            let all = whole.lastMembers
            return !members.isEmpty
                && members.allSatisfy { name, value in
                    all[name].map { value.isEquivalent(to: $0) || value.abridges($0, levels: levels - 1) } ?? false
                }
        default: return false
        }
    }
}
