internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// Does the operations of a batch inside one transaction.
struct BatchRun: Sendable {
    /// Records are shown until they have this many bytes together; after that, only their keys and tags.
    static let mostShown = 8 << 20
    /// The most bytes of records that the operations may read in order to change them: one to two seconds of the only writer.
    static let mostRead = 128 << 20

    let batch: BatchRequest
    let handlers: Handlers
    /// Whether the caller waits for the changes that carry the writes.
    let isTracked: Bool
    /// Whether no record is shown.
    let isMinimal: Bool
    /// Whether nothing is done if an operation is refused.
    let throwsRefusals: Bool
    var mostRead = Self.mostRead

    private enum Outcome {
        case written(BatchWrite)
        case refused(Problem)
    }

    /// Throws `.batchRefused`, with the mistakes of all operations, if one was refused and `throwsRefusals`, and
    /// `.contentTooLarge` when the operations read more than `mostRead`; an operation alone may.
    func run(_ transaction: LocalTransaction) throws -> BatchResults {
        var shown = 0
        var listed = 0
        var start = 0
        var last: HeldEntity?
        let outcomes = try transaction.each(batch.operations.count) { before -> Outcome in
            if before.isEmpty { (shown, listed, start) = (0, 0, transaction.bytesRead) }
            if transaction.bytesRead - start > mostRead { throw Self.tooLarge(before.count, mostRead) }
            let operation = batch.operations[before.count]
            let held = try entity(operation.entity, &last)
            // To pass the entity itself would copy it.
            let name = held.entity.name
            let write = try write(operation, of: held, before, transaction)
            let done = try write.perform(in: transaction, isTracked: isTracked)
            var result = BatchWrite(done, of: name)
            if !isMinimal, done.status != 204 {
                result.show(try Handlers.shown(name, done.key, transaction))
                result.fit(after: &shown)
            } else if done.status != 204, try !transaction.isShown(held.entity, key: done.key) {
                throw CacheError.notCached(entity: name, key: done.key)
            }
            return .written(result)
        } refused: { error, number in
            var problem = try problem(error, batch.operations[number], number, transaction)
            problem.fit(after: &listed)
            return .refused(problem)
        }
        if throwsRefusals { try requireAll(outcomes) }
        return BatchResults(
            all: outcomes.map { outcome in
                switch outcome {
                case .written(let write): .written(write)
                case .refused(let problem): .refused(problem)
                }
            })
    }

    // MARK: Before

    /// `last`: the one of the operation before, which nearly always has the same.
    private func entity(_ name: String, _ last: inout HeldEntity?) throws(Problem) -> HeldEntity {
        if let last, last.entity.name == name { return last }
        let held = HeldEntity(try handlers.entity(name))
        last = held
        return held
    }

    private func write(
        _ operation: BatchOperation, of held: HeldEntity, _ before: [Outcome], _ transaction: LocalTransaction
    ) throws -> RecordWrite {
        var body = operation.body
        for (field, creation) in operation.references {
            let made = try made(by: creation, before)
            let reference = try transaction.reference(to: made.key, of: handlers.entity(made.entity))
            body = body.setting(field, to: reference)
        }
        let conditions = WriteConditions(expected: operation.expected)
        let key = try operation.target.map { target in
            switch target {
            case .key(let key): key
            case .made(let creation): try made(by: creation, before).key
            }
        }
        switch (operation.kind, key) {
        case (.update, let key?):
            let kind = RecordWrite.Kind.update(key: key, merging: operation.merges)
            return RecordWrite(of: held, kind: kind, body: body, conditions: conditions)
        case (.replace, let key?):
            return RecordWrite(of: held, kind: .replace(key: key), body: body, conditions: conditions)
        case (.delete, let key?):
            return RecordWrite(of: held, kind: .delete(key: key), conditions: conditions)
        default:
            return RecordWrite(of: held, kind: .create, body: body)
        }
    }

    private func made(by creation: Int, _ before: [Outcome]) throws(Problem) -> BatchWrite {
        guard case .written(let write) = before[creation] else {
            throw Problem(
                .failedDependency, "operation \(creation), which creates the record that this one needs, was refused")
        }
        return write
    }

    // MARK: After

    private static func tooLarge(_ count: Int, _ limit: Int) -> Problem {
        Problem(
            .contentTooLarge,
            "nothing was done: the records that the first \(count) operations read have more than \(limit >> 20) MiB together, "
                + "each as often as it is changed; send fewer operations at once, or change a record once")
    }

    /// Why an operation was refused. Throws an error that is no refusal, such as a full disk.
    private func problem(
        _ error: any Error, _ operation: BatchOperation, _ number: Int, _ transaction: LocalTransaction
    ) throws -> Problem {
        if let problem = error as? Problem {
            guard problem.code != .contentTooLarge else { throw problem }
            return problem
        }
        guard let error = error as? CacheError else { throw error }
        switch error {
        case .notCached(let entity, let key):
            return try handlers.absent(entity, key, transaction.absence(of: key, entity))
        case .unsupported(_, let entity, let supported):
            let can = supported.isEmpty ? "only read them" : supported.joined(separator: ", ")
            return Problem(
                .methodNotAllowed, "the schema cannot \(operation.kind.rawValue) records of \(entity); it can \(can)")
        case .invalid, .notFound, .ambiguous, .gone, .conflict, .busy, .needed, .changed:
            var problem = Problem(error)
            for place in problem.errors.indices { problem.errors[place].container = "/operations/\(number)/body" }
            return problem
        case .badQuery, .badQueries, .keyReused, .unwritable, .damaged, .failed, .incompatible: throw error
        }
    }

    private func requireAll(_ outcomes: [Outcome]) throws(Problem) {
        var errors: [InputError] = []
        var details: [String] = []
        var dependents: Set<Int64> = []
        for (number, outcome) in outcomes.enumerated() {
            guard case .refused(let problem) = outcome, problem.code != .failedDependency else { continue }
            details.append("operation \(number): \(problem.detail)")
            dependents.formUnion(problem.dependents)
            var whole = InputError(problem.code.rawValue, in: .body, "", problem.detail)
            whole.container = "/operations/\(number)"
            errors += problem.errors.isEmpty ? [whole] : problem.errors
        }
        guard let first = details.first else { return }
        let others = details.count > 1 ? "; \(details.count - 1) more were refused, see errors" : ""
        let listed = Array(errors.prefix(BatchRequest.mostMistakes))
        var refusal = Problem(.batchRefused, "nothing was done: \(first)\(others)", errors: listed)
        refusal.dependents = dependents.sorted()
        throw refusal
    }
}

extension Problem {
    /// Leaves mistakes out, but not the first, where those of the operations before it are many; `listed`: how many.
    fileprivate mutating func fit(after listed: inout Int) {
        let room = max(1, BatchRequest.mostMistakes - listed)
        if errors.count > room {
            let left = errors.count - room
            errors.removeLast(left)
            detail = "\(errors.map(\.detail).joined(separator: "; ")); and \(left) more"
        }
        listed += errors.count
    }
}
