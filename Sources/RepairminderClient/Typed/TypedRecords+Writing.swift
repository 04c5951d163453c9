/// What came of a typed write.
public struct Written<Item: TypedRecord>: Sendable, Hashable {
    /// The same by names: status, tag, and whether the answer is a repeat.
    public let result: WriteResult

    init(_ result: WriteResult) { self.result = result }

    /// The record as it is now, with its new tag; nil after a deletion.
    public var record: Item? { result.record.map(Item.init) }

    /// Why the upstream does not have the write, though the call waited; nil if it has it, or the call did not wait.
    public var push: PushState? { result.push }
}

extension TypedRecords where Item: CreatableRecord {
    /// Creates a record. The daemon generates an id unless the fields have one.
    @discardableResult
    public func create(
        _ new: Item.New, _ options: WriteOptions = WriteOptions()
    ) async throws(ClientError) -> Written<Item> {
        Written(try await untyped.create(new.fields, options))
    }

    /// Creates a record with more fields than it must have.
    @discardableResult
    public func create(
        _ new: Item.New, _ options: WriteOptions = WriteOptions(), _ fill: @Sendable (inout Item.New) -> Void
    ) async throws(ClientError) -> Written<Item> {
        var new = new
        fill(&new)
        return try await create(new, options)
    }
}

extension TypedRecords where Item: UpdatableRecord {
    /// Changes the fields that are set; one that is set to nil becomes null.
    @discardableResult
    public func update(
        _ id: Item.ID, _ options: WriteOptions = WriteOptions(), _ change: @Sendable (inout Item.Changes) -> Void
    ) async throws(ClientError) -> Written<Item> {
        var changes = Item.Changes()
        change(&changes)
        return Written(try await untyped.update(id.text, changes.fields, options))
    }

    /// Reads a record, changes it and writes it, again if someone else has changed it in between.
    ///
    /// `change` may run several times. Nil if it sets no field: then nothing is written.
    @discardableResult
    public func edit(
        _ id: Item.ID, wait: Duration? = nil, attempts: Int = 10, _ change: @Sendable (Item, inout Item.Changes) -> Void
    ) async throws(ClientError) -> Written<Item>? {
        let result = try await untyped.update(id.text, wait: wait, attempts: attempts) {
            (record) throws(ClientError) in
            var changes = Item.Changes()
            change(Item(record), &changes)
            return changes.fields.isEmpty ? nil : changes.fields
        }
        return result.map(Written.init)
    }
}

extension TypedRecords where Item: DeletableRecord {
    /// Deletes the record here at once, and queues the deletion.
    @discardableResult
    public func delete(
        _ id: Item.ID, _ options: WriteOptions = WriteOptions()
    ) async throws(ClientError) -> Written<Item> {
        Written(try await untyped.delete(id.text, options))
    }
}

extension Batch {
    /// Creates a record. Returns what stands for its id in later operations.
    @discardableResult
    public mutating func create<Item: CreatableRecord>(_ type: Item.Type, _ new: Item.New) -> JSONValue {
        create(Item.entity, new.fields)
    }

    /// Changes the fields that are set.
    public mutating func update<Item: UpdatableRecord>(
        _ type: Item.Type, _ id: Item.ID, ifMatch tag: String? = nil, _ change: @Sendable (inout Item.Changes) -> Void
    ) {
        var changes = Item.Changes()
        change(&changes)
        update(Item.entity, id.fieldValue, changes.fields, ifMatch: tag)
    }
}
