internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// A user's edit of one queued change.
struct QueuedChangeEdit {
    let change: OutboxTable.Entry
    /// The fields to set; all others stay.
    let fields: JSONText
    /// The same with secrets sealed, as the queue stores them.
    let sealed: JSONText
    /// The fields to remove from the change.
    let removed: [String]
    let writer: ChangeWriter

    private var entity: Entity { writer.entity }
    private var queue: OutboxTable { writer.queue }

    /// What the edited change sends.
    var body: JSONText {
        JSONText.object(members: change.body.members.filter { !removed.contains($0.key) }).setting(sealed)
    }

    /// Throws `.invalid` with one problem per field when the edited change could not be sent. It is checked like a new
    /// write.
    func check() throws {
        guard fields.kind == .object else {
            throw CacheError.invalid([FieldProblem(field: "", message: "expected a JSON object")])
        }
        var problems = try changeProblems()
        if problems.isEmpty, change.operation != .delete {
            problems = try writer.problems(in: fields, operation: change.operation, record: record())
        }
        if problems.isEmpty { problems = try requestProblems() }
        guard problems.isEmpty else { throw CacheError.invalid(problems) }
        try writer.requireSingle(fields, change.key)
    }

    /// The reasons why the change cannot be edited like this; empty when it can.
    private func changeProblems() throws -> [FieldProblem] {
        if change.operation == .delete {
            return (fields.members.map(\.key) + removed).map {
                FieldProblem(field: $0, message: "a deletion sends no fields; discard it, or retry it")
            }
        }
        if change.isContentOnly {
            return [
                FieldProblem(field: "", message: "a change of content has no fields; retry it, or send other content")
            ]
        }
        var problems = removed.filter { change.body[$0] == nil }.map {
            FieldProblem(field: $0, message: "change \(change.id) does not have this field")
        }
        problems += removed.filter { fields[$0] != nil }.map {
            FieldProblem(field: $0, message: "this field cannot be both set and removed")
        }
        let key = entity.key
        let isRenamed = fields[key].map { $0.plain.exact != change.key.exact } ?? false
        if change.operation == .create, removed.contains(key) || isRenamed {
            problems.append(FieldProblem(field: key, message: "the key of a record cannot be changed"))
        }
        if problems.isEmpty, change.operation == .update, body.members.isEmpty {
            problems.append(FieldProblem(field: "", message: "nothing would be left of the change; discard it instead"))
        }
        return problems
    }

    /// The edited change must still be one request.
    private func requestProblems() throws -> [FieldProblem] {
        guard change.operation == .update,
            try entity.route(for: .update, record: record(), fields: body.members.map(\.key)) == nil
        else { return [] }
        let names = fields.members.map(\.key).filter { change.body[$0] == nil }
        return (names.isEmpty ? [""] : names).map {
            FieldProblem(
                field: $0,
                message: "change \(change.id) is sent by a request that cannot send this field; change the record")
        }
    }

    /// The whole record with the edited change.
    private func record() throws -> JSONText {
        guard change.operation == .update else { return body }
        let remote = try writer.row.remote(of: change.key) ?? .object([:])
        return try queue.changes(of: change.entity, key: change.key).reduce(remote) {
            $0.setting($1.id == change.id ? body : $1.body)
        }
    }

    /// Stores it as a change that was never tried. It gets a new idempotency key, since another body may have been sent
    /// under the old one.
    func store() throws {
        let record = try record()
        let corrected = OutboxTable.NewChange(
            table: writer.table, key: change.key, operation: change.operation, body: body, base: try base(),
            edited: JSONText.object(members: change.edited.members.filter { !removed.contains($0.key) })
                .setting(writer.edited(fields.members.map(\.key))),
            group: entity.orderGroup(of: change.key, in: record),
            idempotencyKey: writer.context.makeID(), sent: change.sent(replacedBy: body))
        try queue.edit(change.id, to: corrected)
        try updateDependencies(corrected)
    }

    /// The base of a field that is new in the change is the server's current value.
    private func base() throws -> JSONText {
        guard change.operation == .update else { return change.base }
        let remote = try writer.row.remote(of: change.key)
        let kept = JSONText.object(members: change.base.members.filter { !removed.contains($0.key) })
        return fields.members.reduce(kept) { base, member in
            guard change.body[member.key] == nil, let value = remote.flatMap({ entity.value(of: member.key, in: $0) })
            else { return base }
            return base.setting(member.key, to: value)
        }
    }

    /// The edited change may refer to other records, and no longer to one whose creation failed.
    private func updateDependencies(_ corrected: OutboxTable.NewChange) throws {
        let needs = try queue.needs(of: corrected, before: change.id)
        if let circle = try needs.intersection(queue.waiting(for: change.id)).min() {
            throw CacheError.conflict(
                "change \(circle) waits for \(change.id), so \(change.id) cannot refer to its record")
        }
        try queue.depend(change.id, onlyOn: needs)
    }
}
