internal import EntitySchema
internal import JSONText
internal import SQLiteStore

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
        var before: Version?
        var after: Version?
    }

    /// What readers see of a record. Of many large records, only the fields in conditions and a hash of the whole are
    /// kept.
    private struct Version: Equatable {
        var record: JSONText
        var isWhole = true

        func brief(_ plan: RecordPlan) -> Version {
            guard isWhole else { return self }
            let values = plan.hookFields.compactMap { field -> (key: String, value: JSONText)? in
                guard let value = plan.entity.value(of: field, in: record), value.bytes.count <= HookNotes.longestValue
                else { return nil }
                return (key: field, value: value)
            }
            let hash = (key: "", value: JSONText.string(String(ContentHash.of(record.bytes))))
            return Version(record: .object(members: values + [hash]), isWhole: false)
        }
    }

    /// What one step replaced, with the bytes until then.
    private enum Step {
        case added(Place, earlier: Int?, bytes: Int)
        case changed(Int, Change, bytes: Int)
        case logged([Change], [Place: Int], bytes: Int)
    }

    /// The steps since `mark`, which `undo` takes back; nil without a mark. A copy of all notes for each write of a batch
    /// would take as long as the batch is.
    private var steps: [Step]?
    /// In the order in which the records were first written.
    private var changes: [Change] = []
    private var places: [Place: Int] = [:]
    /// How many bytes the versions in `changes` had when they were noted: at least as many as they have now.
    private var bytes = 0

    /// At least as many bytes as versions were noted since all were last made brief; those of an undone write still count.
    private var whole = 0

    private static let mostBytes = 4 << 20
    private static let mostWhole = 16 << 20
    /// Conditions have no longer values.
    private static let longestValue = 64 << 10

    /// Whether they could fill the memory, and so are logged before the transaction ends. Hooks then get another event
    /// for a record that is written again.
    var areLarge: Bool { bytes >= Self.mostBytes }

    /// `old` is nil for a record that is added, `new` for one that is removed.
    mutating func note(_ plan: RecordPlan, from old: RecordImage?, to new: RecordImage?) {
        guard let image = new ?? old else { return }
        let place = Place(entity: plan.entity.name, pk: image.pk)
        let after = new.flatMap(Self.seen)
        let noted = bytes
        if old != nil, let known = places[place] {
            steps?.append(.changed(known, changes[known], bytes: bytes))
            bytes += (after?.record.bytes.count ?? 0) - (changes[known].after?.record.bytes.count ?? 0)
            changes[known].key = image.key
            changes[known].after = after
        } else {
            let before = old.flatMap(Self.seen)
            steps?.append(.added(place, earlier: places[place], bytes: bytes))
            bytes += (after?.record.bytes.count ?? 0) + (before?.record.bytes.count ?? 0)
            places[place] = changes.count
            changes.append(Change(plan: plan, key: image.key, before: before, after: after))
        }
        whole += max(0, bytes - noted)
        if whole > Self.mostWhole { makeBrief() }
    }

    private static func seen(_ image: RecordImage) -> Version? {
        image.isDeleted ? .none : image.shown.map { Version(record: $0) }
    }

    /// Both versions, because a page of small records may replace as many large ones.
    private mutating func makeBrief() {
        for index in changes.indices {
            let plan = changes[index].plan
            changes[index].before = changes[index].before?.brief(plan)
            changes[index].after = changes[index].after?.brief(plan)
        }
        whole = 0
    }

    /// Appends an entry for each record that a hook gets an event for, and forgets all notes.
    mutating func log(to log: ChangeLog) throws {
        let (changes, places, bytes, steps) = (changes, places, bytes, steps)
        self = HookNotes()
        self.steps = steps.map { $0 + [.logged(changes, places, bytes: bytes)] }
        for change in changes {
            guard let event = Self.event(change) else { continue }
            let entity = change.plan.entity
            let hooks = change.plan.hooks.filter {
                $0.applies(to: event, from: change.before?.record, to: change.after?.record, of: entity)
            }
            try log.append(event, entity: entity.name, key: change.key, hooks: hooks.map(\.name))
        }
    }

    // MARK: Undoing a write

    /// Call this before a write that may be undone alone.
    mutating func mark() { steps = [] }

    mutating func unmark() { steps = nil }

    /// Makes the notes what they were at the last mark, after the write has been undone.
    mutating func undo() {
        for step in (steps ?? []).reversed() {
            switch step {
            case .added(let place, let earlier, let size):
                changes.removeLast()
                places[place] = earlier
                bytes = size
            case .changed(let index, let change, let size):
                changes[index] = change
                bytes = size
            case .logged(let all, let known, let size): (changes, places, bytes) = (all, known, size)
            }
        }
        steps = []
    }

    private static func event(_ change: Change) -> HookEvent? {
        guard let before = change.before else { return change.after == nil ? nil : .created }
        guard let after = change.after else { return .deleted }
        if before == after { return nil }
        guard before.isWhole, after.isWhole else {
            return before.brief(change.plan) == after.brief(change.plan) ? nil : .changed
        }
        return before.record.isEquivalent(to: after.record) ? nil : .changed
    }
}
