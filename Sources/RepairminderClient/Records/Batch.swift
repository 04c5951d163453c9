/// Many writes in one request: either all are done, or none. With `isAtomic: false`, each by itself.
///
///     var batch = Batch()
///     let order = batch.create("orders", ["client_id": "cli_1"])
///     batch.create("devices", ["order_id": order, "model": "Pixel 8"])
///     try await client.run(batch)
public struct Batch: Sendable, Hashable {
    /// Whether one refused operation refuses all.
    public var isAtomic: Bool
    /// The operations as they are sent, at most 1,000.
    public private(set) var operations: [JSONObject] = []

    /// A batch without operations.
    public init(isAtomic: Bool = true) { self.isAtomic = isAtomic }

    /// Creates a record. Returns what stands for it in later operations: as an id, and in fields that refer to it.
    @discardableResult
    public mutating func create(_ entity: String, _ fields: JSONObject) -> JSONValue {
        let name = "new\(operations.count)"
        append("create", entity, ["lid": .string(name), "body": .object(fields)])
        return ["lid": .string(name)]
    }

    /// Changes the named fields of a record.
    public mutating func update(
        _ entity: String, _ id: JSONValue, _ fields: JSONObject, ifMatch tag: String? = nil, mergesObjects: Bool = false
    ) {
        append("update", entity, ["id": id, "body": .object(fields)], tag, mergesObjects ? ["merge": true] : [:])
    }

    /// Makes a record what the fields say, or creates it.
    public mutating func replace(_ entity: String, _ id: JSONValue, with fields: JSONObject, ifMatch tag: String? = nil)
    {
        append("replace", entity, ["id": id, "body": .object(fields)], tag)
    }

    /// Deletes a record.
    public mutating func delete(_ entity: String, _ id: JSONValue, ifMatch tag: String? = nil) {
        append("delete", entity, ["id": id], tag)
    }

    private mutating func append(
        _ operation: String, _ entity: String, _ members: JSONObject, _ tag: String? = nil, _ more: JSONObject = [:]
    ) {
        var all: JSONObject = ["operation": .string(operation), "entity": .string(entity)]
        for member in members.members + more.members { all[member.name] = member.value }
        if let tag { all["if_match"] = [.string(tag)] }
        operations.append(all)
    }

    var json: JSONValue { ["atomic": .bool(isAtomic), "operations": .array(operations.map(JSONValue.object))] }
}

/// What came of a batch.
public struct BatchResult: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Nil without results.
    public init?(json: JSONObject) {
        guard json["results"]?.array != nil else { return nil }
        self.json = json
    }

    /// The number of refused operations; 0 if the batch was atomic.
    public var failed: Int { json["failed"]?.int ?? 0 }

    /// One for each operation, in their order.
    public var results: [OperationResult] {
        (json["results"]?.array ?? []).compactMap(\.object).compactMap(OperationResult.init)
    }
}

/// What came of one operation of a batch.
public struct OperationResult: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Wraps the object.
    public init?(json: JSONObject) { self.json = json }

    /// The status of the same single write.
    public var status: Int { json["status"]?.int ?? 0 }
    /// The id of the record.
    public var id: String? { json["id"]?.plain }
    /// The record as the operation left it; nil if it was refused or deleted, and in very large batches.
    public var record: Record? { json["record"]?.object.map { Record(json: $0, tag: json["etag"]?.string) } }
    /// Why the operation was refused; nil if it was done.
    public var problem: Problem? { json["problem"]?.object.flatMap(Problem.init) }
}
