internal import EntitySchema
internal import JSONText

/// What readers saw of records before a transaction, and what they see after it, for the records that hooks are about.
///
/// Only the difference between the two counts: a merge or a batch writes a record several times.
struct HookNotes {
    private struct Place: Hashable {
        var entity: String
        var pk: Int64
    }

    private struct Change {
        var plan: RecordPlan
        var key: String
        /// Nil where readers see no record.
        var before: JSONText?
        var after: JSONText?
    }

    /// In the order in which the records were first written.
    private var changes: [Change] = []
    private var places: [Place: Int] = [:]
    /// How many bytes the versions in `changes` have.
    private var bytes = 0

    private static let mostBytes = 4 << 20

    /// Whether they could fill the memory, and so are logged before the transaction ends. Hooks are then told again of a
    /// record that is written again.
    var areLarge: Bool { bytes >= Self.mostBytes }

    /// `old` is nil for a record that is added, `new` for one that is removed.
    mutating func note(_ plan: RecordPlan, from old: RecordImage?, to new: RecordImage?) {
        guard let image = new ?? old else { return }
        let place = Place(entity: plan.entity.name, pk: image.pk)
        let after = new.flatMap(Self.seen)
        bytes += after?.bytes.count ?? 0
        if old != nil, let known = places[place] {
            bytes -= changes[known].after?.bytes.count ?? 0
            changes[known].key = image.key
            changes[known].after = after
        } else {
            let before = old.flatMap(Self.seen)
            bytes += before?.bytes.count ?? 0
            places[place] = changes.count
            changes.append(Change(plan: plan, key: image.key, before: before, after: after))
        }
    }

    private static func seen(_ image: RecordImage) -> JSONText? { image.isDeleted ? .none : image.shown }

    /// Appends an entry for each record that a hook is told of, and forgets all notes.
    mutating func log(to log: ChangeLog) throws {
        let changes = changes
        self = HookNotes()
        for change in changes {
            guard let event = Self.event(change) else { continue }
            let entity = change.plan.entity
            let hooks = change.plan.hooks.filter {
                $0.applies(to: event, from: change.before, to: change.after, of: entity)
            }
            try log.append(event, entity: entity.name, key: change.key, hooks: hooks.map(\.name))
        }
    }

    private static func event(_ change: Change) -> HookEvent? {
        guard let before = change.before else { return change.after == nil ? nil : .created }
        guard let after = change.after else { return .deleted }
        return before == after || before.isEquivalent(to: after) ? nil : .changed
    }
}
