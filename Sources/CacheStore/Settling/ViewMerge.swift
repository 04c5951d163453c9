internal import EntitySchema
internal import JSONText

/// What is known of a record after one of its views came: a view replaces only what it is a view of.
///
/// A view that has all members that are known replaces them byte for byte. From one that lacks some, those that the same
/// view had before go, and those that only other views have had stay. An answer to a change removes nothing. The members of
/// objects that fields are read from count as members of the record (`NestedMembers`).
struct ViewMerge {
    let entity: Entity
    let view: RecordView
    /// Members that no view has had are what was sent. Only the record's own address shows that they are gone, once it has
    /// caught up; those inside an object also go with a view that shows it without them, unless a field is read from there.
    let isSettling: Bool
    /// The view has only the members that changed, so it removes nothing either.
    var isPartial = false

    struct Result: Equatable {
        var record: JSONText
        /// Nil when the list has all members.
        var members: ViewTable.Members?
    }

    /// The view from which a record without a row in `sync_view` has its members.
    static func main(of entity: Entity) -> RecordView { entity.pull == nil ? .embedded : .list }

    private var removesNothing: Bool { view == .answer || isPartial }
    private var nested: NestedMembers { NestedMembers(nests: entity.nests) }

    func names(of record: JSONText) -> Set<String> { nested.names(of: record) }

    func result(_ shown: JSONText, over known: JSONText?, _ members: ViewTable.Members?) -> Result {
        let main = Self.main(of: entity)
        let names = names(of: shown)
        guard let known, known.kind == .object else {
            return Result(record: shown, members: view == main ? nil : [view: names])
        }
        if view == main, members == nil, !isPartial { return Result(record: shown, members: nil) }
        let short = ShortList(entity: entity, view: view)
        let completed = short.completed(shown, by: known, members)
        var result = merged(completed, names, over: known, members)
        // While the record settles, the view may have been completed with what was sent.
        let isCompleted = completed != shown || isSettling && members != nil
        if result.members == nil, short.needsViews(shown, isCompleted: isCompleted, over: known, members) {
            result.members = noted(names, known, members)
        }
        if short.isRepeat(result.record, of: known, isMixed: result.record != shown) { result.record = known }
        return result
    }

    /// Which members each view has, with those of this one.
    func noted(_ names: Set<String>, _ known: JSONText, _ members: ViewTable.Members?) -> ViewTable.Members {
        var after = members ?? [Self.main(of: entity): self.names(of: known)]
        after[view] = removesNothing ? (after[view] ?? []).union(names) : names
        return after
    }

    private func merged(
        _ shown: JSONText, _ names: Set<String>, over known: JSONText, _ members: ViewTable.Members?
    ) -> Result {
        let main = Self.main(of: entity)
        let knownNames = self.names(of: known)
        let before = (members ?? [main: knownNames])[view] ?? []
        let after = noted(names, known, members)
        let lacking = knownNames.subtracting(names)
        let gone = lacking.intersection(gone(knownNames, before, after))
        let moved = moved(by: shown, after)
        let flat = nested.flat(shown)
        let left = lacking.subtracting(gone).subtracting(moved).subtracting(nested.overruled(lacking, by: flat))
        // Where the list has all members, nothing needs to be kept about the others.
        let byView = after[main]?.isSuperset(of: left.union(names)) == true ? nil : after
        if left.isEmpty { return Result(record: shown, members: byView) }
        var rest = nested.flat(known)
        if left.count < lacking.count {
            rest = .object(members: rest.members.filter { left.contains($0.key) || names.contains($0.key) })
        }
        let record = nested.nested(rest.setting(flat))
        return Result(record: withoutRepeats(in: record, of: shown, over: known), members: byView)
    }

    /// The record without what the view only repeats: a field's value under its own name that another view has in the field's
    /// other place. Else each view would change the record in turn, and each pull would read all of them again.
    private func withoutRepeats(in record: JSONText, of shown: JSONText, over known: JSONText) -> JSONText {
        let repeated = entity.fields.filter { field in
            guard let source = field.source, known[field.name] == nil, let value = shown[field.name],
                shown.at(path: source) == nil, let other = record.at(path: source)
            else { return false }
            return field.isSame(value, other)
        }.map(\.name)
        return repeated.isEmpty ? record : .object(members: record.members.filter { !repeated.contains($0.key) })
    }

    /// The fields that this view shows for the first time. A field that appears in a view which has shown the record before
    /// was set; in another view it only shows. `members` are those before this view.
    func added(_ result: Result, over known: JSONText?, _ members: ViewTable.Members?) -> [String] {
        guard let known, members.map({ $0[view] == nil }) ?? (view != Self.main(of: entity)) else { return [] }
        return entity.fields.map(\.name).filter {
            entity.value(of: $0, in: known) == nil && entity.value(of: $0, in: result.record) != nil
        }
    }

    /// The members that the view shows to be gone: those that it had itself, and those inside an object that it shows which no
    /// other view has had. One that a field is read from stays: it is what was sent.
    private func gone(_ lacking: Set<String>, _ before: Set<String>, _ after: ViewTable.Members) -> Set<String> {
        guard !removesNothing else { return [] }
        var others = after.names
        others[view] = nil
        // Without answers to changes, which say nothing about later ones.
        others[.answer] = nil
        let elsewhere = others.values.reduce(into: Set()) { $0.formUnion($1) }
        // Once the record's own address has caught up, it has all members.
        let isWhole = view == .single && !isSettling
        let unseen = lacking.subtracting(elsewhere)
        var gone = before.union(isWhole ? unseen : unread(nested.inside(unseen, of: after[view] ?? [])))
        gone.remove(entity.key)
        return gone
    }

    /// Those of the names that no field is read from.
    private func unread(_ names: Set<String>) -> Set<String> {
        names.isEmpty ? names : names.subtracting(entity.fields.flatMap { nested.names(of: $0) })
    }

    /// Fields that the view has in their other place: what the record has under their names is older.
    ///
    /// A null there says nothing about a value that another view has under the field's name. What no view has was sent.
    private func moved(by shown: JSONText, _ members: ViewTable.Members) -> Set<String> {
        Set(
            entity.fields.filter { field in
                guard let source = field.source, shown[field.name] == nil, let value = shown.at(path: source) else {
                    return false
                }
                return value.kind != .null || !members.names.values.contains { $0.contains(field.name) }
            }.map(\.name))
    }
}
