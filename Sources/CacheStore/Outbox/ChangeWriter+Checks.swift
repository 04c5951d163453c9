internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// What a change must meet before it is queued.
extension ChangeWriter {
    func requireSupport(_ operation: Operation) throws {
        guard !entity.supports(operation) else { return }
        throw CacheError.unsupported(
            operation: operation.rawValue, entity: entity.name, supported: entity.operations.map(\.rawValue))
    }

    /// The record's row, and what readers see of it. `name`: the key by which the caller knows the record.
    func requireRecord(
        _ key: String, named name: String
    ) throws -> (image: RecordImage, document: JSONText) {
        guard let image = try writer.image(of: key), !image.isDeleted, let document = image.shown else {
            throw CacheError.notCached(entity: entity.name, key: name)
        }
        return (image, document)
    }

    /// Throws `.conflict` when a new record cannot have this key.
    func requireFree(_ key: String) throws {
        let taken = try row.load(key)
        guard try taken != nil || KeyAlias.current(of: key, entity.name, in: context.records) != key else { return }
        let reason =
            taken?.deleted == true
            ? "is deleted here, and the upstream may still have it; create it later, or with another key"
            : "already exists; change it, or create with another key"
        throw CacheError.conflict("\(entity.name)/\(key) \(reason)")
    }

    func requireVersion(_ expected: ExpectedVersion, of key: String) throws {
        guard expected != .any else { return }
        guard case .oneOf(let marks) = expected,
            try marks.contains(RecordVersion.mark(of: key, table, context.sealers, db))
        else {
            throw CacheError.changed("\(entity.name)/\(key) is not the version that was expected; read it again")
        }
    }

    /// Throws `.conflict` when `body` makes the record a second one of another record that may have only one.
    func requireSingle(_ body: JSONText, _ key: String) throws {
        for field in entity.singleReferences {
            guard let owner = body[field]?.plain, !owner.isEmpty else { continue }
            let other = try String.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT _key FROM \(table.name)
                        WHERE \(table.sql(for: field)) = ? AND _deleted = 0 AND _key <> ? LIMIT 1
                        """),
                arguments: [owner, key])
            guard let other else { continue }
            throw CacheError.conflict(
                "\(entity.name)/\(other) has \(field) \(owner) already, and there may be only one; change that one")
        }
    }

    func requireFit(_ body: JSONText, forUpdateOf key: String, record: JSONText) throws {
        let problems = try problems(in: body, operation: .update, record: record)
        guard problems.isEmpty else { throw CacheError.invalid(try naming(creationOf: key, in: problems)) }
    }

    /// Says of fields that only a creation can send where to correct them, while the record's creation waits in the queue.
    private func naming(creationOf key: String, in problems: [FieldProblem]) throws -> [FieldProblem] {
        guard problems.contains(where: { $0.code == .unsendableField }) else { return problems }
        let creation = try queue.changes(of: entity.name, key: key).first { $0.operation == .create }
        guard let creation, creation.state != .uploading, !creation.tried || creation.state == .failed else {
            return problems
        }
        return problems.map { problem in
            guard problem.code == .unsendableField, entity.canSend(problem.field, by: .create) else { return problem }
            let words =
                "only a new record is sent with this field; correct the creation, which waits as change \(creation.id), "
                + "with queue edit \(creation.id) or PATCH /v1/pending/\(creation.id)"
            return FieldProblem(field: problem.field, message: words, code: problem.code)
        }
    }

    /// Why `body` cannot be queued, one problem per field. `record` is the whole record with the change applied; where updates
    /// are sent alike, any record will do for one.
    func problems(in body: JSONText, operation: Operation, record: JSONText) throws -> [FieldProblem] {
        let plan = writer.plan
        let isSentLikeAll = operation == .update && plan.sendsUpdatesAlike
        let sendable = isSentLikeAll ? plan.sendableInUpdates : entity.sendable(for: operation, record: record)
        var problems = ChangeValidation(table: table).problems(
            in: body, operation: operation, record: record, sendable: sendable)
        if entity.isLocal || isSentLikeAll { return problems }
        if problems.isEmpty {
            let known =
                entity.farNames.isEmpty
                ? record : try FarValues(schema: context.schema, db: db).added(to: record, of: entity)
            problems += try entity.missingPathFields(for: operation, record: known)
                .filter { try !isAwaited($0, of: record) && !mayBeKnown(before: operation, record) }
                .map { FieldProblem(field: $0, message: "the record needs this field to be sent", code: .missingField) }
        }
        if problems.isEmpty, !entity.hasRoute(for: operation, record: record) {
            let words = "the schema has no route for a record like this one\(routes(for: operation))"
            problems = [FieldProblem(field: "", message: words)]
        }
        return problems
    }

    /// The records for which the schema has routes, as filters name them; empty if they are not told apart by values.
    private func routes(for operation: Operation) -> String {
        let names = entity.routes(for: operation).map { route in
            route.conditions.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " and ")
        }
        guard !names.isEmpty, !names.contains("") else { return "" }
        return "; it has some for \(names.joined(separator: ", "))"
    }

    /// Throws `.conflict` when the record lacks a value of the address that deletes it, and reading the record will not bring that:
    /// bought stock has no order.
    func requireAddressToDelete(_ key: String, _ record: JSONText) throws {
        // A value of another record (`order.shop_id`) may come until the deletion is sent.
        let missing = try entity.missingPathFields(for: .delete, record: record)
            .first { try !$0.contains(".") && !mayBeKnown(before: .delete, record) }
        guard let missing else { return }
        throw CacheError.conflict(
            "\(entity.name)/\(key) has no \(missing), which the address that deletes it needs; it cannot be deleted here"
        )
    }

    /// Whether the record has more values once the change is sent: those that its list lacks are read from its own address,
    /// and those that the upstream gives a new record come with the answer to its creation.
    private func mayBeKnown(before operation: Operation, _ record: JSONText) throws -> Bool {
        guard operation != .create else { return false }
        if entity.recordPath(of: record) != nil { return true }
        guard let key = record[entity.key]?.plain else { return false }
        return try row.remote(of: key) == nil
    }

    /// Whether a value of another record is still to come: that one was created here, and the change waits for it.
    private func isAwaited(_ name: String, of record: JSONText) throws -> Bool {
        guard let far = entity.far(name), let key = entity.value(of: far.reference, in: record)?.plain,
            let other = context.table(far.entity)
        else { return false }
        let current = try KeyAlias.current(of: key, far.entity, in: context.records)
        return try context.row(other).exists(current) && context.row(other).remote(of: current) == nil
    }
}
