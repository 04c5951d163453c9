internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// One write to a record, as a call or an operation of a batch asks for it.
///
/// A key may be a natural one. It is looked up in the transaction of the write, so that a repeat of the request is
/// answered even if the record has another value since.
struct RecordWrite: Sendable {
    enum Kind: Sendable {
        case create
        /// Below the record `key` of `parents`, to which the new record's `field` refers.
        case createBelow(field: String, key: String, parents: HeldEntity)
        /// `merging`: the body is a merge patch.
        case update(key: String, merging: Bool)
        case replace(key: String)
        case delete(key: String)
    }

    let held: HeldEntity
    var kind: Kind
    /// Empty for a deletion.
    var body: JSONText
    var conditions: WriteConditions

    init(
        of held: HeldEntity, kind: Kind, body: JSONText = .object([:]), conditions: WriteConditions = WriteConditions()
    ) {
        self.held = held
        self.kind = kind
        self.body = body
        self.conditions = conditions
    }

    /// As a call asks for it. Throws all mistakes if there is no body to read.
    init(_ entity: Entity, _ kind: Kind, _ request: Request, _ mistakes: inout Mistakes) throws(Problem) {
        self.init(of: HeldEntity(entity), kind: kind)
        if operation != .create {
            conditions = mistakes.collect(conditions, try WriteConditions(request))
        }
        if operation != .delete { body = try mistakes.object(request) }
    }

    var operation: Operation {
        switch kind {
        case .create, .createBelow: .create
        case .update, .replace: .update
        case .delete: .delete
        }
    }

    /// What was done to which record.
    struct Done {
        var key: String
        /// As the answer has it: 201 for a new record, 204 for one that is gone, else 200.
        var status: Int
        /// The changes that carry it, if the caller waits for them.
        var queued: QueuedWrite?
    }

    /// Does it. With `isTracked`, it also finds out which changes carry it.
    func perform(in transaction: LocalTransaction, isTracked: Bool) throws -> Done {
        guard isTracked else { return try perform(in: transaction) }
        let fields = operation == .delete ? [] : body.members.map(\.key)
        let (queued, done) = try transaction.track(operation, of: held.entity.name, fields: fields) {
            let done = try perform(in: transaction)
            return (done.key, done)
        }
        return Done(key: done.key, status: done.status, queued: queued)
    }

    private func perform(in transaction: LocalTransaction) throws -> Done {
        switch kind {
        case .create:
            return Done(key: try transaction.create(held.entity.name, body), status: 201)
        case .createBelow(let field, let id, let parents):
            let parent = try transaction.key(of: parents.entity, id)
            let key = try transaction.create(held.entity.name, body, referring: field, to: parent, of: parents.entity)
            return Done(key: key, status: 201)
        case .update(let id, let merging):
            let key = try transaction.key(of: held.entity, id)
            try conditions.check(held.entity, key, transaction)
            try transaction.update(held.entity.name, key: key, body, merging: merging, expecting: conditions.expected)
            return Done(key: key, status: 200)
        case .replace(let id):
            let key = try transaction.key(of: held.entity, id)
            try conditions.check(held.entity, key, transaction)
            let isNew = try transaction.replace(
                held.entity.name, key: key, body, expecting: conditions.expected, mustExist: conditions.mustExist)
            return Done(key: key, status: isNew ? 201 : 200)
        case .delete(let id):
            let key = try transaction.key(of: held.entity, id)
            try conditions.check(held.entity, key, transaction)
            try transaction.delete(held.entity.name, key: key, expecting: conditions.expected)
            return Done(key: key, status: 204)
        }
    }
}

/// An entity that is referred to: to copy one costs as much as to find a record.
final class HeldEntity: Sendable {
    let entity: Entity

    init(_ entity: Entity) { self.entity = entity }
}
