internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// One write to a record, as a call or an operation of a batch asks for it.
struct RecordWrite: Sendable {
    enum Kind: Sendable {
        case create
        /// Below the record `key` of `parents`, to which the new record's `field` refers.
        case createBelow(field: String, key: String, parents: Entity)
        /// `merging`: the body is a merge patch.
        case update(key: String, merging: Bool)
        /// `mustExist`: nothing is created.
        case replace(key: String, mustExist: Bool)
        case delete(key: String)
    }

    var entity: Entity
    var kind: Kind
    /// Empty for a deletion.
    var body = JSONText.object([:])
    var expected = ExpectedVersion.any

    var operation: Operation {
        switch kind {
        case .create, .createBelow: .create
        case .update, .replace: .update
        case .delete: .delete
        }
    }

    /// Does it, and returns the record's key and what the write left. With `isTracked`, also which changes carry it.
    func perform(in transaction: LocalTransaction, isTracked: Bool) throws -> (key: String, written: Written) {
        guard isTracked else {
            let (key, result) = try perform(in: transaction)
            return (key, Written(result: result))
        }
        let fields = operation == .delete ? [] : body.members.map(\.key)
        let (queued, result) = try transaction.track(operation, of: entity.name, fields: fields) {
            try perform(in: transaction)
        }
        return (queued.key, Written(result: result, queued: queued))
    }

    private func perform(in transaction: LocalTransaction) throws -> (key: String, result: WriteResult) {
        switch kind {
        case .create:
            let key = try transaction.create(entity.name, body)
            return (key, .created(try Handlers.shown(entity, key, transaction), entity: entity.name, key: key))
        case .createBelow(let field, let parent, let parents):
            let key = try transaction.create(entity.name, body, referring: field, to: parent, of: parents)
            return (key, .created(try Handlers.shown(entity, key, transaction), entity: entity.name, key: key))
        case .update(let key, let merging):
            try transaction.update(entity.name, key: key, body, merging: merging, expecting: expected)
            return (key, .record(try Handlers.shown(entity, key, transaction)))
        case .replace(let key, let mustExist):
            let isNew = try transaction.replace(
                entity.name, key: key, body, expecting: expected, mustExist: mustExist)
            let shown = try Handlers.shown(entity, key, transaction)
            return (key, isNew ? .created(shown, entity: entity.name, key: key) : .record(shown))
        case .delete(let key):
            try transaction.delete(entity.name, key: key, expecting: expected)
            return (key, .done)
        }
    }
}
