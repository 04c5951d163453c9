internal import EntitySchema
internal import GRDB
internal import JSONText

/// What readers see of a record: its queued changes, its derived and computed fields over what the server said.
struct RecordOverlay {
    /// A queued change, as far as readers see its effect.
    struct Change {
        var operation: Operation
        var body: JSONText
        /// Of a creation, its defaults.
        var base: JSONText
        /// When its fields were edited.
        var edited: JSONText
        var state: OutboxState
        /// As `OutboxTable.NewChange.content`.
        var content: String?

        /// The columns of the queue that `init(reading:)` takes.
        static let columns = "operation, body, iif(operation = 'create', base, '{}') AS base, edited, state, content"
    }

    let computed: ComputedFields

    private var entity: Entity { computed.entity }
    /// The fields that move with each edit.
    let touched: [Field]

    init(_ entity: Entity) {
        computed = ComputedFields(entity: entity)
        touched = entity.touchedFields
    }

    /// The row as it should be with these changes, oldest first; nil when it is no record: it has neither a server
    /// version nor a queued change.
    ///
    /// `shown` has what readers saw of the fields that follow the queue, if the row no longer has it. `isOwnerDeleted`
    /// says whether a record that looks like this goes with its owner.
    func image(
        of old: RecordImage, _ changes: [Change], shown: JSONText? = nil,
        isOwnerDeleted: (_ record: JSONText) throws -> Bool
    ) rethrows -> RecordImage? {
        if changes.isEmpty, old.remote == nil { return nil }
        let local = local(changes, over: old.remote)
        let creation = changes.first { $0.operation == .create }
        let beneath = old.remote ?? creation?.base
        let patched = beneath?.laying(local)
        let edited = withContentState(patched?.result ?? local, changes)
        let own = computed.overlay(
            edited: edited, local: entity.content?.state == nil ? .some(local) : .none, remote: old.remote,
            creation: creation.map(Self.state), shown: [shown, old.whole].compactMap(\.self))
        var new = old
        new.local = changes.isEmpty ? .none : .some(local)
        let laid = (old.derived?.members ?? []) + own
        if laid.isEmpty, old.remote != nil, entity.content == nil, let patched {
            new.show(patched)
        } else {
            new.show(edited.setting(.object(members: laid)))
        }
        new.isDeleted = try changes.last?.operation == .delete || isOwnerDeleted(edited)
        return new
    }

    private static func state(of creation: Change) -> ComputedFields.Creation {
        creation.state == .failed ? .failed : .queued
    }

    /// What the changes set, with the time of the last edit in the fields that move with it.
    private func local(_ changes: [Change], over remote: JSONText?) -> JSONText {
        let local = changes.reduce(JSONText.object([:])) { $0.setting($1.body) }
        guard !touched.isEmpty else { return local }
        var last: Int?
        for change in changes where change.operation != .delete {
            for (_, edited) in change.edited.members {
                if let time = edited.integer { last = max(time, last ?? time) }
            }
        }
        guard let last else { return local }
        let time = Timestamp(milliseconds: Int64(last))
        let moving = entity.moving(touched, in: remote ?? .object([:]), at: time, except: local)
        return moving.reduce(local) { local, field in local.setting(field.name, to: .string(time.description)) }
    }

    /// Sets the upload state of the record's content, if the schema has a field for it.
    private func withContentState(_ document: JSONText, _ changes: [Change]) -> JSONText {
        let queued = changes.last { ($0.content ?? ContentTable.nothing) != ContentTable.nothing }
        guard let field = entity.content?.state, let queued else { return document }
        let state = ContentState(queued.state)
        return document.setting(field, to: .string(state.rawValue))
    }
}

extension RecordOverlay.Change {
    init(reading row: Row) throws {
        self.init(
            operation: Operation(rawValue: row["operation"]) ?? .update,
            body: try JSONText(parsing: row["body"] as String),
            base: try JSONText(parsing: row["base"] as String), edited: try JSONText(parsing: row["edited"] as String),
            state: OutboxState(rawValue: row["state"]) ?? .queued, content: row["content"])
    }
}
