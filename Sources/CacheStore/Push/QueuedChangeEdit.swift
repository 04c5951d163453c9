internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// One queued change as a person wants it to be.
struct QueuedChangeEdit {
    let change: OutboxTable.Entry
    /// Fields that take these values; all others stay.
    let fields: JSONText
    /// The same with secrets sealed, as the queue has them.
    let sealed: JSONText
    /// Fields that the change is to leave alone.
    let removed: [String]
    let writer: ChangeWriter
    let queue: OutboxTable

    private var entity: Entity { writer.table.entity }

    /// What the change would then send.
    var body: JSONText {
        JSONText.object(members: change.body.members.filter { !removed.contains($0.key) }).setting(sealed)
    }

    /// Throws `.invalid`, a problem a field, when the change could not be sent so; held to the schema like a new write.
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
    }

    /// What is wrong with correcting this very change.
    private func changeProblems() throws -> [FieldProblem] {
        if change.operation == .delete {
            return (fields.members.map(\.key) + removed).map {
                FieldProblem(field: $0, message: "a deletion sends no fields; discard it, or retry it")
            }
        }
        if change.content != nil {
            return [
                FieldProblem(field: "", message: "a change of content has no fields; retry it, or send other content")
            ]
        }
        var problems = removed.filter { change.body[$0] == nil }.map {
            FieldProblem(field: $0, message: "change \(change.id) does not have this field")
        }
        problems += removed.filter { fields[$0] != nil }.map {
            FieldProblem(field: $0, message: "this field cannot be both set and taken out")
        }
        let key = entity.key
        if change.operation == .create, removed.contains(key) || fields[key].map({ $0.plain != change.key }) == true {
            problems.append(FieldProblem(field: key, message: "the key of a record cannot be changed"))
        }
        if problems.isEmpty, change.operation == .update, body.members.isEmpty {
            problems.append(FieldProblem(field: "", message: "nothing would be left of the change; discard it instead"))
        }
        return problems
    }

    /// A change is one request, whatever is corrected in it.
    private func requestProblems() throws -> [FieldProblem] {
        guard change.operation == .update,
            try entity.route(for: .update, record: record(), fields: body.members.map(\.key)) == nil
        else { return [] }
        let names = fields.members.map(\.key).filter { change.body[$0] == nil }
        return (names.isEmpty ? [""] : names).map {
            FieldProblem(
                field: $0, message: "change \(change.id) goes by a request that does not take this; change the record")
        }
    }

    /// The whole record as it would then be.
    private func record() throws -> JSONText {
        guard change.operation == .update else { return body }
        let remote = try writer.row.remote(of: change.key) ?? .object([:])
        return try queue.changes(of: change.entity, key: change.key).reduce(remote) {
            $0.setting($1.id == change.id ? body : $1.body)
        }
    }

    /// Writes it down as a change that nobody has tried: what may have been sent was another, so it gets a key of its own.
    func store() throws {
        let record = try record()
        let group = entity.orderWithin.flatMap { entity.value(of: $0, in: record)?.plain }
        let corrected = OutboxTable.NewChange(
            entity: entity, key: change.key, operation: change.operation, body: body, base: try base(),
            edited: JSONText.object(members: change.edited.members.filter { !removed.contains($0.key) })
                .setting(writer.edited(fields.members.map(\.key))),
            group: group, idempotencyKey: writer.context.makeID())
        try queue.edit(change.id, to: corrected)
        try waitAnew(corrected)
    }

    /// What the server has now of fields that are new in the change is what they start from.
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

    /// It may refer to other records now, and no longer to one whose creation failed.
    private func waitAnew(_ corrected: OutboxTable.NewChange) throws {
        let needs = try queue.needs(of: corrected, before: change.id)
        if let circle = try needs.intersection(queue.waiting(for: change.id)).min() {
            throw CacheError.conflict("change \(circle) waits for \(change.id), which cannot refer to its record then")
        }
        try writer.db.cachedStatement(sql: "DELETE FROM sync_dependency WHERE change_id = ?")
            .execute(arguments: [change.id])
        try queue.depend(change.id, on: needs)
    }
}
